#include "bench/policies/published/sigmoid_score.h"

#include <algorithm>
#include <cstddef>

namespace bench {
namespace {

// ln(s / (100 − s)) · 10^12, rounded, for s = 51, 52, … 99; those below 50 mirror them.
constexpr std::array<std::int64_t, 49> kLogOdds{
    40'005'334'614,    80'042'707'674,    120'144'311'842,   160'342'650'075,   200'670'695'462,
    241'162'056'817,   281'851'152'141,   322'773'392'263,   363'965'377'201,   405'465'108'108,
    447'312'218'044,   489'548'225'319,   532'216'813'747,   575'364'144'904,   619'039'208'406,
    663'294'217'410,   708'185'057'924,   753'771'802'376,   800'119'300'112,   847'297'860'387,
    895'384'047'055,   944'461'608'841,   994'622'575'144,   1'045'968'555'183, 1'098'612'288'668,
    1'152'679'509'938, 1'208'311'205'925, 1'265'666'373'331, 1'324'925'414'744, 1'386'294'361'120,
    1'450'010'175'506, 1'516'347'489'368, 1'585'627'263'740, 1'658'228'076'604, 1'734'601'055'388,
    1'815'289'966'638, 1'900'958'761'193, 1'992'430'164'690, 2'090'741'096'934, 2'197'224'577'336,
    2'313'634'929'181, 2'442'347'035'369, 2'586'689'344'098, 2'751'535'313'042, 2'944'438'979'166,
    3'178'053'830'348, 3'476'098'689'835, 3'891'820'298'111, 4'595'119'850'135,
};
constexpr std::int64_t kScale = 1'000'000'000'000;

std::int64_t log_odds(std::int64_t percent) {
  if (percent == 50) return 0;
  if (percent < 50) return -log_odds(100 - percent);
  return kLogOdds[static_cast<std::size_t>(percent - 51)];
}

// The least integer ≥ odds · unit.
std::int64_t ceiling(std::int64_t odds, std::uint64_t unit) {
  __extension__ using WideProduct = __int128;
  const WideProduct product = static_cast<WideProduct>(odds) * static_cast<WideProduct>(unit);
  const WideProduct down = product / kScale;
  return static_cast<std::int64_t>(down * kScale < product ? down + 1 : down);
}

}  // namespace

SigmoidScore::SigmoidScore(std::uint64_t unit) : least_{} {
  std::int64_t percent = 0;
  for (std::int64_t& least : least_) least = ceiling(log_odds(++percent), unit);
}

std::int64_t SigmoidScore::of(std::int64_t amount) const {
  return std::upper_bound(least_.begin(), least_.end(), amount) - least_.begin();
}

}  // namespace bench
