/* Bessel functions; part of special.h. tools/fit_special.py computed the tables. */
#ifndef OPWEAVE_SPECIAL_BESSEL_H
#define OPWEAVE_SPECIAL_BESSEL_H

/* ---- first and second kind --------------------------------------------------------------------------------- */

/* Below 8 polynomials: in v = 1 - x^2 / 64 of J0 and J1 without their zeros there, which are given in two parts, and in
 * t = 1 - 2 v of what Y0 and Y1 have besides the logarithm and the pole. The library does the rest. */
static const double ow_j0_near[14] = {
    0x1.70d77f5601459p-14, 0x1.86c89ec14906fp-11, 0x1.a1fee496139a0p-10, 0x1.ae528ba69d923p-10,
    0x1.0a698d083c1a6p-10, 0x1.bd3c2f121dd16p-12, 0x1.0d97850195f47p-13, 0x1.f0b037a783223p-16,
    0x1.68909da43b599p-18, 0x1.a8005f2901e04p-21, 0x1.9ada835d140e3p-24, 0x1.597636fd0c171p-27,
    0x1.91b4fc8b4c3dap-31, 0x1.c1a4da88b6196p-34,
};
static const double ow_j1_near[14] = {
    0x1.517f30234baa5p-15, 0x1.3848b9914d39cp-13, 0x1.bdc3954971fb5p-13, 0x1.5dc281b899725p-13,
    0x1.606db3350197fp-14, 0x1.f27e2f3278aebp-16, 0x1.0641500fb29d2p-17, 0x1.abca92cc3e41ap-20,
    0x1.16e60a7e2753ep-22, 0x1.29cdffb42ec55p-25, 0x1.08aad82bf97bep-28, 0x1.988e189974b01p-32,
    0x1.c61a54a62fa4dp-36, 0x1.c2bffa9dfe96ap-39,
};
static const double ow_y0_near[17] = {
    -0x1.72b74bbdd8607p-2, -0x1.abf36a4259870p-2, 0x1.5c66ef4d2f665p+0, -0x1.b31e39bdf5e9cp-3,
    -0x1.3d1a3c2cf3e27p-1, 0x1.cb0102d915e81p-2, -0x1.3c7dc9b8c3445p-3, 0x1.14e9baa57ecdbp-5,
    -0x1.571530a3c5b0bp-8, 0x1.400b23ec41bedp-11, -0x1.d43ce57d9181dp-15, 0x1.14a05abed0021p-18,
    -0x1.0dfb984a5b43bp-22, 0x1.bb2ca1a5e390dp-27, -0x1.36683ec72f370p-31, 0x1.792fe936c488bp-36,
    -0x1.8e1ed81e00471p-41,
};
static const double ow_y1_near[16] = {
    0x1.717b235185ceep-5, -0x1.a92eafb5bfbebp-3, 0x1.719265d0c16f1p-4, 0x1.eda6c04165176p-4,
    -0x1.02e87689eeceep-3, 0x1.bd90575895a24p-5, -0x1.cf132a676a6e3p-7, 0x1.4b3c8c2a8d5b4p-9,
    -0x1.5deef863a42a3p-12, 0x1.1dbf18b2c3f27p-15, -0x1.74a80268ab735p-19, 0x1.8dcde04a8feb9p-23,
    -0x1.626de25691db9p-27, 0x1.0bc999ec376c9p-31, -0x1.5d36e92a93c9ap-36, 0x1.8994fe9821653p-41,
};

static inline double ow_bessel_v(double x) { return ow_multiply_add_f64(x, -0x1p-6 * x, 1); }
/* x^2 - z^2 for z = high + low */
static inline double ow_less_square(double x, double high, double low) { return (x - high - low) * (x + high); }

static inline int ow_bessel_j0_is_near(double x) { return fabs(x) < 8; }
static inline __attribute__((always_inline)) double ow_bessel_j0_of_near(double x) {
    double a = fabs(x), first = ow_less_square(a, 0x1.33d152e971b40p+1, -0x1.0f539d7da258ep-53);
    double second = ow_less_square(a, 0x1.6148f5b2c2e45p+2, 0x1.75054cd60a517p-54);
    double value = first * second * OW_POLYNOMIAL(ow_bessel_v(x), ow_j0_near);
    return value < 1 ? value : 1; /* rounding may carry it beyond at zero */
}
static inline double ow_bessel_j0(double x) { return ow_bessel_j0_is_near(x) ? ow_bessel_j0_of_near(x) : j0(x); }

static inline int ow_bessel_j1_is_near(double x) { return fabs(x) < 8; }
static inline __attribute__((always_inline)) double ow_bessel_j1_of_near(double x) {
    double a = fabs(x), first = ow_less_square(a, 0x1.ea75575af6f09p+1, -0x1.60155a9d1b256p-53);
    double second = ow_less_square(a, 0x1.c0ff5f3b47250p+2, -0x1.b226d9d243827p-54);
    return x * (first * second * OW_POLYNOMIAL(ow_bessel_v(x), ow_j1_near));
}
static inline double ow_bessel_j1(double x) { return ow_bessel_j1_is_near(x) ? ow_bessel_j1_of_near(x) : j1(x); }

static inline int ow_bessel_y0_is_near(double x) { return (0x1p-1000 < x) & (x < 8); }
static inline __attribute__((always_inline)) double ow_bessel_y0_of_near(double x) {
    double t = 1 - 2 * ow_bessel_v(x);
    return 2 / OW_PI * log(0.5 * x) * ow_bessel_j0_of_near(x) + OW_POLYNOMIAL(t, ow_y0_near);
}
static inline double ow_bessel_y0(double x) {
    return ow_bessel_y0_is_near(x) ? ow_bessel_y0_of_near(x) : x < 0 ? NAN : x == 0 ? -INFINITY : y0(x);
}

static inline int ow_bessel_y1_is_near(double x) { return (0x1p-1000 < x) & (x < 8); }
static inline __attribute__((always_inline)) double ow_bessel_y1_of_near(double x) {
    double t = 1 - 2 * ow_bessel_v(x), singular = log(0.5 * x) * ow_bessel_j1_of_near(x) - 1 / x;
    return 2 / OW_PI * singular + x * OW_POLYNOMIAL(t, ow_y1_near);
}
static inline double ow_bessel_y1(double x) {
    return ow_bessel_y1_is_near(x) ? ow_bessel_y1_of_near(x) : x < 0 ? NAN : x == 0 ? -INFINITY : y1(x);
}

#define OW_BESSEL(name) \
    OW_FLOAT_FORM1(ow_bessel_##name) \
    OW_NEAR_BLOCK(ow_bessel_##name##_block, float, ow_bessel_##name) \
    OW_NEAR_BLOCK(ow_bessel_##name##_block_f64, double, ow_bessel_##name)
OW_BESSEL(j0)
OW_BESSEL(j1)
OW_BESSEL(y0)
OW_BESSEL(y1)

/* ---- modified, first kind ----------------------------------------------------------------------------------- */

/* exp(-|x|) I0(x) and the like as Chebyshev series: near zero in |x| / 4 - 1, from 8 on in 16 / |x| - 1. */
static const double ow_i0_near[29] = {
    0x1.5a84e9035a22ap-2, -0x1.37febc057cd8dp-2, 0x1.5f7ac77ac88c0p-3, -0x1.84b70342d06eap-4,
    0x1.93e8acea8a32dp-5, -0x1.84e9ef121b6f0p-6, 0x1.59961f3dde3ddp-7, -0x1.1b65e201aa849p-8,
    0x1.adc758a12100ep-10, -0x1.2e2fd1f15eb52p-11, 0x1.8b51b74107cabp-13, -0x1.e2b2659c41d5ap-15,
    0x1.13f58be9a2859p-16, -0x1.2866fcba56427p-18, 0x1.2bf24978cf4acp-20, -0x1.1ec638f227f8dp-22,
    0x1.03b769d4d6435p-24, -0x1.beaf68c0b30abp-27, 0x1.6d903a454cb34p-29, -0x1.1d4fe13ae9556p-31,
    0x1.a98becc743c10p-34, -0x1.2fc957a946abcp-36, 0x1.9fe2fe19bd324p-39, -0x1.1164c62ee1af0p-41,
    0x1.59b464b262627p-44, -0x1.a5022c297fbebp-47, 0x1.ee6d893f65ebap-50, -0x1.184eb721ebbb4p-52,
    0x1.33362977da589p-55,
};
static const double ow_i0_far[23] = {
    0x1.9be62aca809cbp-2, 0x1.b998ca2e59049p-9, 0x1.20fa378999e52p-14, 0x1.8412bc101c586p-19,
    0x1.b8007d9cd616ep-23, 0x1.8569280d6d56dp-26, 0x1.d2c64a9225b87p-29, 0x1.0f9ccc0f46f75p-31,
    0x1.a24feabe8004fp-37, -0x1.1511d08397425p-35, -0x1.d0fd7357e7bf2p-37, -0x1.f904303178d66p-40,
    0x1.94347fa268cecp-41, 0x1.b1c8c6b83c073p-42, 0x1.156ff0d5fc545p-46, -0x1.75d99cf68bb32p-45,
    -0x1.583fe7e65629ap-47, 0x1.12a919094e6d7p-48, 0x1.fee7da3eafb1fp-50, -0x1.8aee7d908de38p-52,
    -0x1.4600babd21fe4p-52, 0x1.3f3dd076041cdp-55, 0x1.9be1812d98421p-55,
};
static const double ow_i1_near[28] = {
    0x1.02a63724a7ffap-3, -0x1.694d10469192ep-3, 0x1.a46dad536f53cp-4, -0x1.b1bbc537c9ebcp-5,
    0x1.951e3e7bb2349p-6, -0x1.5a29f7913a26ap-7, 0x1.1065349d3a1b4p-8, -0x1.8cc620b3cd4a4p-10,
    0x1.0c95db6c6df7dp-11, -0x1.533cad3d694fep-13, 0x1.911b542c70d0bp-15, -0x1.bd5f9b8debbcfp-17,
    0x1.d1c4ed511afc5p-19, -0x1.cc0798363992ap-21, 0x1.ae344b347d108p-23, -0x1.7dd3e24b8c3e8p-25,
    0x1.4258e02395010p-27, -0x1.0361b28ea67e6p-29, 0x1.8ea34b43fdf6cp-32, -0x1.2510397eb07dep-34,
    0x1.9cee2b21d3154p-37, -0x1.173835fb70366p-39, 0x1.6af784779d955p-42, -0x1.c628e1c8f0b3bp-45,
    0x1.11d7f0615290cp-47, -0x1.3eaaa7e0d1573p-50, 0x1.663e3e593bfacp-53, -0x1.857d0c38a0576p-56,
};
static const double ow_i1_far[23] = {
    0x1.8ea18b55b1514p-2, -0x1.3fda053fcdb4cp-7, -0x1.cfd7f804aa9a6p-14, -0x1.048df49ca0373p-18,
    -0x1.0dbfd2e9e5443p-22, -0x1.c415394bb46c1p-26, -0x1.0790b9ad53528p-28, -0x1.334ca5423dd80p-31,
    -0x1.4dcf9d4504c0cp-36, 0x1.1e1a1f1587865p-35, 0x1.f101f653c457bp-37, 0x1.1e7d3f6439fa3p-39,
    -0x1.953e1076ab493p-41, -0x1.cbc458e73e255p-42, -0x1.7a9482e6d22a0p-46, 0x1.80d3c26b3281ep-45,
    0x1.776e1762d31e8p-47, -0x1.12db5138afbc7p-48, -0x1.0efcd8bc4d22ap-49, 0x1.7d68e5f04a2d1p-52,
    0x1.55915fceb588ap-52, -0x1.2806c9c773320p-55, -0x1.acea3b2532277p-55,
};

/* By the first `nears` and `fars` terms of the series. */
enum { OW_I0_NEARS = 19, OW_I0_FARS = 7, OW_I1_NEARS = 18, OW_I1_FARS = 8 }; /* above 2^-31: float32 has use for no others */
static inline __attribute__((always_inline)) double ow_i0e_by(double x, int nears, int fars) {
    double a = fabs(x), inverse = 1 / a;
    double near = ow_chebyshev(0.25 * a - 1, ow_i0_near, nears);
    double far = ow_chebyshev(16 * inverse - 1, ow_i0_far, fars) * sqrt(inverse);
    return a <= 8 ? near : far;
}
static inline double ow_i0e(double x) { return ow_i0e_by(x, OW_TERMS(ow_i0_near), OW_TERMS(ow_i0_far)); }
static inline float ow_i0ef(float x) { return (float)ow_i0e_by(x, OW_I0_NEARS, OW_I0_FARS); }

static inline __attribute__((always_inline)) double ow_i1e_by(double x, int nears, int fars) {
    double a = fabs(x), inverse = 1 / a;
    double near = ow_chebyshev(0.25 * a - 1, ow_i1_near, nears) * a;
    double far = ow_chebyshev(16 * inverse - 1, ow_i1_far, fars) * sqrt(inverse);
    double value = a <= 8 ? near : far;
    return x < 0 ? -value : value;
}
static inline double ow_i1e(double x) { return ow_i1e_by(x, OW_TERMS(ow_i1_near), OW_TERMS(ow_i1_far)); }
static inline float ow_i1ef(float x) {
    float a = fabsf(x), inverse = 1 / a;
    float near = ow_chebyshevf(0.25f * a - 1, ow_i1_near, OW_I1_NEARS) * a;
    float far = ow_chebyshevf(16 * inverse - 1, ow_i1_far, OW_I1_FARS) * sqrtf(inverse);
    float value = a <= 8 ? near : far;
    return x < 0 ? -value : value;
}

/* The exponential alone would overflow where the product does not. An infinite argument gives NaN, as in torch. */
static inline double ow_i0(double x) {
    double half = exp(0.5 * fabs(x));
    return ow_i0e(x) * half * half;
}
static inline float ow_i0f(float x) { return (float)(ow_i0e_by(x, OW_I0_NEARS, OW_I0_FARS) * exp(fabs((double)x))); }

static inline double ow_i1(double x) {
    double half = exp(0.5 * fabs(x));
    return ow_i1e(x) * half * half;
}
static inline float ow_i1f(float x) { return (float)(ow_i1e_by(x, OW_I1_NEARS, OW_I1_FARS) * exp(fabs((double)x))); }

/* ---- modified, second kind ---------------------------------------------------------------------------------- */

/* K0(x) + log(x / 2) I0(x), x K1(x) - x log(x / 2) I1(x), I0(x) and I1(x) / x up to 2, in x * x / 2 - 1 (DLMF 10.31.1);
 * beyond, sqrt(x) exp(x) K0(x) and the like in 4 / x - 1. */
static const double ow_k0_short[10] = {
    -0x1.12166e9d2f61fp-2, 0x1.608d881213db9p-2, 0x1.26bf6554a9085p-5, 0x1.4b82e75633d73p-10,
    0x1.7f900fe8cfca0p-16, 0x1.102bce7f95efcp-22, 0x1.05c1367e58a13p-29, 0x1.6c25c475120bep-37,
    0x1.7fb0ac384a073p-45, 0x1.3cee1e6b887dcp-53,
};
static const double ow_k1_short[10] = {
    0x1.867a1361008cap-1, -0x1.69a1b757b0dd4p-2, -0x1.f637243c1db74p-4, -0x1.c92939d7d4192p-8,
    -0x1.6ade2e5a3bd02p-13, -0x1.469b32c832e3ap-19, -0x1.7c41d145c31d0p-26, -0x1.3663bb84626cap-33,
    -0x1.77502ddd0e045p-41, -0x1.5dd517a0399e0p-49,
};
static const double ow_i0_short[10] = {
    0x1.9a59262940b2dp+0, 0x1.47120e251567ep-1, 0x1.2dea3e22c01f1p-5, 0x1.01a7d5a666181p-10,
    0x1.f6c49c0eff257p-17, 0x1.3c817af4fd10bp-23, 0x1.16089005c6ad2p-30, 0x1.67ef9c4f1a061p-38,
    0x1.6574cac34c7f0p-46, 0x1.18e020a5bc9efp-54,
};
static const double ow_i1_short[9] = {
    0x1.4894a29ffb58ep-1, 0x1.2e29185751a1ep-3, 0x1.82947ae5f1010p-8, 0x1.f6d1a48c16c56p-14,
    0x1.8ba6c57dcf5c5p-20, 0x1.a10fa2f3fee93p-27, 0x1.3af2e4c1dd270p-34, 0x1.6575aa72c13f2p-42,
    0x1.3bfca661b091fp-50,
};
static const double ow_k0_long[23] = {
    0x1.385bd9f4e6907p+0, -0x1.019f72d4ff71ep-5, 0x1.9b891fca79342p-10, -0x1.0d797e7889f42p-13,
    0x1.d413fcc7470a9p-17, -0x1.ebb547f18d3a9p-20, 0x1.2915981e3e46fp-22, -0x1.905541b54f2afp-25,
    0x1.269a0033f428ep-27, -0x1.d29d5f22bf5e2p-30, 0x1.8956c819ff63dp-32, -0x1.5df95d2e7ca15p-34,
    0x1.46808475fbf4dp-36, -0x1.3dafc3f00540bp-38, 0x1.40fa32fcce645p-40, -0x1.4f87721a3b2dbp-42,
    0x1.69c4ecd913e48p-44, -0x1.9145ebaf9922fp-46, 0x1.c8d9c4a6808e8p-48, -0x1.0a690ed1130d0p-49,
    0x1.3dbf96cd7929dp-51, -0x1.82f947bd75936p-53, 0x1.e092e5c062a6ap-55,
};
static const double ow_k1_long[23] = {
    0x1.5c3d7aa062c8ap+0, 0x1.a9abef9e023fbp-4, -0x1.76946be66b48ap-9, 0x1.9965888f6908ep-13,
    -0x1.44d711dcdb2e5p-16, 0x1.42fe31752d1b6p-19, -0x1.780528fada5c6p-22, 0x1.ed27c668fc461p-25,
    -0x1.637a49fe1e088p-27, 0x1.14f242a73d252p-29, -0x1.ccbc00365cf5fp-32, 0x1.956d008a43059p-34,
    -0x1.76b539401d12cp-36, 0x1.69ab846c05207p-38, -0x1.6adec61fc71a4p-40, 0x1.78ffa0409e616p-42,
    -0x1.94465d4c8014bp-44, 0x1.be3e9590877a3p-46, -0x1.f9d52362a3e00p-48, 0x1.25cedf006519fp-49,
    -0x1.5d2a3d9ce2a50p-51, 0x1.a7d5e4c65543cp-53, -0x1.0661525866f5ap-54,
};

/* Half of the least number is zero, its logarithm is not. */
static inline double ow_log_of_half(double x) { return log(x) - 0.6931471805599453; }

static inline double ow_k0_near(double x) {
    double t = 0.5 * x * x - 1;
    return OW_CHEBYSHEV(t, ow_k0_short) - ow_log_of_half(x) * OW_CHEBYSHEV(t, ow_i0_short);
}

static inline double ow_k1_near(double x) {
    double t = 0.5 * x * x - 1;
    return OW_CHEBYSHEV(t, ow_k1_short) / x + ow_log_of_half(x) * OW_CHEBYSHEV(t, ow_i1_short) * x;
}

static inline double ow_bessel_k(double x, double near, double far) {
    return x > 2 ? far : x > 0 ? near : x == 0 ? INFINITY : NAN;
}

static inline double ow_k0e(double x) {
    double far = OW_CHEBYSHEV(4 / x - 1, ow_k0_long) / sqrt(x);
    return ow_bessel_k(x, ow_k0_near(x) * exp(x), far);
}
OW_FLOAT_FORM1(ow_k0e)

static inline double ow_k1e(double x) {
    double far = OW_CHEBYSHEV(4 / x - 1, ow_k1_long) / sqrt(x);
    return ow_bessel_k(x, ow_k1_near(x) * exp(x), far);
}
OW_FLOAT_FORM1(ow_k1e)

static inline double ow_k0(double x) {
    double far = OW_CHEBYSHEV(4 / x - 1, ow_k0_long) / sqrt(x) * exp(-x);
    return ow_bessel_k(x, ow_k0_near(x), far);
}
OW_FLOAT_FORM1(ow_k0)

static inline double ow_k1(double x) {
    double far = OW_CHEBYSHEV(4 / x - 1, ow_k1_long) / sqrt(x) * exp(-x);
    return ow_bessel_k(x, ow_k1_near(x), far);
}
OW_FLOAT_FORM1(ow_k1)

#endif
