#include "k8s-client/http/cpprest/body_sink.h"

#include <memory>
#include <utility>

namespace k8s::http {
namespace {

using Base = concurrency::streams::details::streambuf_state_manager<std::uint8_t>;
using Mode = std::ios_base::openmode;

// cpprestsdk requires a whole stream buffer; everything except writing is for reading and seeking,
// which is never used.
class BodySink final : public Base {
 public:
  explicit BodySink(TakeBytes take) : Base(std::ios_base::out), take_(std::move(take)) {}

  bool can_seek() const override { return false; }
  bool has_size() const override { return false; }
  utility::size64_t size() const override { return 0; }
  std::size_t buffer_size(Mode) const override { return 0; }
  void set_buffer_size(std::size_t, Mode) override {}
  std::size_t in_avail() const override { return 0; }
  pos_type getpos(Mode) const override { return nowhere(); }
  pos_type seekpos(pos_type, Mode) override { return nowhere(); }
  pos_type seekoff(off_type, std::ios_base::seekdir, Mode) override { return nowhere(); }
  bool acquire(std::uint8_t*& bytes, std::size_t& count) override {
    bytes = nullptr;
    count = 0;
    return false;
  }
  void release(std::uint8_t*, std::size_t) override {}

 protected:
  pplx::task<std::size_t> _putn(const std::uint8_t* bytes, std::size_t count) override {
    const pplx::task_completion_event<std::size_t> taken;
    take_({reinterpret_cast<const char*>(bytes), count}, taken);
    return pplx::create_task(taken);
  }
  pplx::task<std::size_t> _putn(const std::uint8_t* bytes, std::size_t count, bool) override {
    return _putn(bytes, count);
  }
  pplx::task<int_type> _putc(std::uint8_t) override { return end(); }
  pplx::task<bool> _sync() override { return pplx::task_from_result(true); }
  std::uint8_t* _alloc(std::size_t) override { return nullptr; }
  void _commit(std::size_t) override {}

  pplx::task<int_type> _bumpc() override { return end(); }
  int_type _sbumpc() override { return traits::eof(); }
  pplx::task<int_type> _getc() override { return end(); }
  int_type _sgetc() override { return traits::eof(); }
  pplx::task<int_type> _nextc() override { return end(); }
  pplx::task<int_type> _ungetc() override { return end(); }
  pplx::task<std::size_t> _getn(std::uint8_t*, std::size_t) override {
    return pplx::task_from_result<std::size_t>(0);
  }
  std::size_t _scopy(std::uint8_t*, std::size_t) override { return 0; }

 private:
  static pos_type nowhere() { return static_cast<pos_type>(traits::eof()); }
  static pplx::task<int_type> end() { return pplx::task_from_result<int_type>(traits::eof()); }

  TakeBytes take_;
};

}  // namespace

concurrency::streams::ostream make_body_sink(TakeBytes take) {
  const std::shared_ptr<concurrency::streams::details::basic_streambuf<std::uint8_t>> buffer =
      std::make_shared<BodySink>(std::move(take));
  return concurrency::streams::streambuf<std::uint8_t>(buffer).create_ostream();
}

}  // namespace k8s::http
