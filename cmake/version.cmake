# write_version(TARGET): builds what --version prints into TARGET: sched::kVersion of scheduler/base/version.h.
#
# It is the project's version and, behind a "+" as in semantic versions, the commit, with ".dirty" where files have changed since. At each build git
# is asked, so that the program never names a commit that it is not of. GPU_SCHEDULER_COMMIT says it where there is no git (Dockerfile); without
# either the version stands alone.
if(NOT CMAKE_SCRIPT_MODE_FILE)
  set(GPU_SCHEDULER_COMMIT "" CACHE STRING "The commit that is built; empty: git is asked")
  set(WRITE_VERSION_SCRIPT ${CMAKE_CURRENT_LIST_FILE})

  function(write_version target)
    set(generated ${CMAKE_CURRENT_BINARY_DIR}/version.cc)
    add_custom_target(${target}-version
      COMMAND ${CMAKE_COMMAND} -DSOURCE=${CMAKE_SOURCE_DIR} -DVERSION=${PROJECT_VERSION} -DCOMMIT=${GPU_SCHEDULER_COMMIT}
        -DGENERATED=${generated} -P ${WRITE_VERSION_SCRIPT}
      BYPRODUCTS ${generated}
      COMMENT "")
    # By itself, so that a new commit compiles nothing else.
    set_source_files_properties(${generated} PROPERTIES SKIP_UNITY_BUILD_INCLUSION ON)
    target_sources(${target} PRIVATE ${generated})
    add_dependencies(${target} ${target}-version)
  endfunction()
  return()
endif()

function(ask_git result)
  execute_process(COMMAND git -C ${SOURCE} ${ARGN}
    OUTPUT_VARIABLE answer OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET RESULT_VARIABLE failed)
  if(failed)
    set(answer "")
  endif()
  set(${result} "${answer}" PARENT_SCOPE)
endfunction()

string(SUBSTRING "${COMMIT}" 0 12 commit)
if(NOT commit)
  # A copy of the sources inside of another repository is not of that one's commit.
  ask_git(top rev-parse --show-toplevel)
  file(REAL_PATH "${SOURCE}" here)
  if(top STREQUAL here)
    ask_git(commit rev-parse --short=12 HEAD)
    ask_git(changes status --porcelain --untracked-files=no)
    if(commit AND changes)
      string(APPEND commit ".dirty")
    endif()
  endif()
endif()
set(version ${VERSION})
if(commit)
  string(APPEND version "+${commit}")
endif()
file(CONFIGURE OUTPUT ${GENERATED} @ONLY CONTENT [[
#include <string_view>

namespace sched {

extern const std::string_view kVersion;
const std::string_view kVersion = "@version@";

}  // namespace sched
]])
