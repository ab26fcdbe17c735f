# embed_text(TARGET SYMBOL FILE): builds the text of FILE into TARGET.
#
# SYMBOL is a qualified name, "bench::replay::kStyle"; whoever reads the text declares it:
#
#   namespace bench::replay { extern const std::string_view kStyle; }
#
# A changed file is built in again.
set(EMBED_TEXT_TEMPLATE ${CMAKE_CURRENT_LIST_DIR}/embed_text.cc.in)

function(embed_text target symbol file)
  cmake_path(ABSOLUTE_PATH file BASE_DIRECTORY ${CMAKE_CURRENT_SOURCE_DIR} NORMALIZE)
  string(REGEX REPLACE "::[^:]*$" "" embed_namespace ${symbol})
  string(REGEX REPLACE ".*::" "" embed_name ${symbol})
  cmake_path(GET file FILENAME embed_source)
  file(READ ${file} embed_content)
  set(generated ${CMAKE_CURRENT_BINARY_DIR}/${embed_source}.cc)
  configure_file(${EMBED_TEXT_TEMPLATE} ${generated} @ONLY)
  set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${file})
  target_sources(${target} PRIVATE ${generated})
endfunction()
