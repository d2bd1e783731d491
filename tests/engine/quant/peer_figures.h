#pragma once

/// What llama.cpp's quantiser (llama_model_quantize of llama-cpp-python 0.3.36, pure, one thread) reaches on the tensors of
/// made_tensors.h, written as F32 to one GGUF file, quantised, and decoded in float64: the root mean square error without an
/// importance matrix, and sqrt(Σ w e² / Σ w) with `importance` as the matrix of every tensor and as w.
namespace hearth::made {

struct PeerFigures {
    const char *type, *tensor;
    double rmse, weighted_rmse;
};

constexpr PeerFigures kPeerFigures[] = {
    {"F16", "gaussian", 4.14924505e-06, 4.20239107e-06},  {"F16", "laplace", 5.87264444e-06, 5.770987e-06},
    {"F16", "outlier", 5.24939931e-06, 5.46864075e-06},   {"BF16", "gaussian", 3.31168051e-05, 3.33657753e-05},
    {"BF16", "laplace", 4.68779676e-05, 4.67429058e-05},  {"BF16", "outlier", 4.28312422e-05, 4.29853056e-05},
    {"Q8_0", "gaussian", 0.000107094178, 0.000106562223}, {"Q8_0", "laplace", 0.000190791925, 0.000191507438},
    {"Q8_0", "outlier", 0.000232780136, 0.000231577557},  {"Q4_0", "gaussian", 0.00172385229, 0.00141464476},
    {"Q4_0", "laplace", 0.00301455396, 0.00256082239},    {"Q4_0", "outlier", 0.0036058421, 0.00321455633},
    {"Q4_1", "gaussian", 0.00156440048, 0.00107802896},   {"Q4_1", "laplace", 0.00258700934, 0.0018097709},
    {"Q4_1", "outlier", 0.00251246814, 0.00175366751},    {"Q5_0", "gaussian", 0.000852818114, 0.000697059286},
    {"Q5_0", "laplace", 0.00151165614, 0.00130690849},    {"Q5_0", "outlier", 0.00185145533, 0.00170437803},
    {"Q5_1", "gaussian", 0.000757994966, 0.000524387526}, {"Q5_1", "laplace", 0.00125497278, 0.000882781634},
    {"Q5_1", "outlier", 0.00120629635, 0.000871104905},   {"Q4_K", "gaussian", 0.00142856823, 0.00110284026},
    {"Q4_K", "laplace", 0.00238535195, 0.00186261477},    {"Q4_K", "outlier", 0.00231797939, 0.00186380209},
    {"Q5_K", "gaussian", 0.00072321974, 0.000580747838},  {"Q5_K", "laplace", 0.00120707136, 0.000990926566},
    {"Q5_K", "outlier", 0.00116274457, 0.000999869442},   {"Q6_K", "gaussian", 0.000355353118, 0.000286445008},
    {"Q6_K", "laplace", 0.000611289794, 0.000511755555},  {"Q6_K", "outlier", 0.000684169907, 0.000602218485},
};

}  // namespace hearth::made
