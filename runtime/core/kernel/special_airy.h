/* Airy's function; part of special.h. tools/fit_special.py computed the tables. */
#ifndef OPWEAVE_SPECIAL_AIRY_H
#define OPWEAVE_SPECIAL_AIRY_H

/* Ai(x) in x / 2 + 1 from -4 to 0 and exp(x) Ai(x) in x - 1 up to 2. Beyond, with zeta = 2 / 3 |x|^1.5: 2 sqrt(pi) x^(1/4)
 * exp(zeta) Ai(x) in 2 zeta(2) / zeta - 1; P and zeta Q of DLMF 9.7.9 in 2 (zeta(4) / zeta)^2 - 1. */
static const double ow_airy_left[26] = {
    0x1.d4e67323a758dp-4, 0x1.af63783cbedf5p-2, -0x1.c66754e12a265p-6, -0x1.de8810ab33ef8p-3,
    0x1.1c3e8e5c8f85cp-4, 0x1.90c81bb176c33p-6, -0x1.e3dddb7c76279p-7, 0x1.a4aed35a10bd0p-11,
    0x1.0c2e5a4005aa3p-10, -0x1.07b5aba815e60p-12, -0x1.97c4fb5edd571p-17, 0x1.e57f03fd0e0bfp-17,
    -0x1.f4c100538f3f8p-20, -0x1.171a9a6b2a0c2p-22, 0x1.bc2c4fab18932p-24, -0x1.de171127b8fa3p-28,
    -0x1.0c3dab063df1cp-29, 0x1.e831fb39109aep-32, -0x1.910fe4c762ce1p-37, -0x1.267f4c832dc98p-37,
    0x1.62f86c84f5842p-40, 0x1.6cd304f463d8cp-47, -0x1.acbbee33fececp-46, 0x1.6a5e279780a41p-49,
    0x1.d288b20b65401p-54, -0x1.bf870cbccde3dp-55,
};
static const double ow_airy_right[18] = {
    0x1.58c7ef5f33833p-2, -0x1.ad01b9361fdc1p-5, -0x1.f583629320c46p-6, 0x1.05205c093bb71p-8,
    0x1.da6a65adf62bdp-12, -0x1.ae6f59590aa20p-14, -0x1.c119e51405237p-22, 0x1.5c55f355d88a9p-20,
    -0x1.245153e1b8674p-24, -0x1.1d57366025644p-27, 0x1.0d69a6b52fe2ap-30, 0x1.9396c36c3ef46p-37,
    -0x1.e8474779a2d92p-38, 0x1.1e5a5123da970p-42, 0x1.d5943235ed8cdp-46, -0x1.5a948c0c89af4p-49,
    -0x1.417adc577aa8bp-56, 0x1.9537becd3d43ap-57,
};
static const double ow_airy_far[23] = {
    0x1.f803f8dd4194fp-1, -0x1.e4badf92f0698p-7, 0x1.8027b6119ca99p-11, -0x1.00f0eec77d5afp-14,
    0x1.caac670d169d2p-18, -0x1.efeb84cedc369p-21, 0x1.346d52b669db2p-23, -0x1.aba96d0e939bcp-26,
    0x1.43a78ffb4b7e2p-28, -0x1.07707202858f2p-30, 0x1.c834c8a5f387ap-33, -0x1.a0b1c6e6db0c8p-35,
    0x1.8eda827e9a573p-37, -0x1.8df6dfaa1aa23p-39, 0x1.9c1e947dc07d1p-41, -0x1.b9591e92f35b6p-43,
    0x1.e74cc999dbc9ap-45, -0x1.14a33407d0d9dp-46, 0x1.42441e5f90db4p-48, -0x1.8071c47eb60a8p-50,
    0x1.d4d85135aae64p-52, -0x1.23d2d8fabb65ep-53, 0x1.72547d78958f2p-55,
};
static const double ow_airy_p[16] = {
    0x1.ffad8a8a4c03ep-1, -0x1.45f0f7da0086ep-11, 0x1.e1ebf839949afp-18, -0x1.f16a47972e4b5p-23,
    0x1.c61ba99909726p-27, -0x1.2cae8342b7ab4p-30, 0x1.035dcfdbf92b9p-33, -0x1.1102a690867cfp-36,
    0x1.4fee1f8a8993dp-39, -0x1.d4ff322938cffp-42, 0x1.6b841cdb4ef97p-44, -0x1.33d285c05d7f7p-46,
    0x1.193ca15a9c534p-48, -0x1.12828b8046171p-50, 0x1.1bff39ae50b78p-52, -0x1.3566ce6dae749p-54,
};
static const double ow_airy_q[20] = {
    0x1.19e4c9ea5fb92p-4, -0x1.3f3f3669d4d31p-11, 0x1.ba0d1873bf4dcp-17, -0x1.42e0c66530cd8p-21,
    0x1.73bb8d73e8085p-25, -0x1.23e6e30cb9731p-28, 0x1.1fa5dec75a9bfp-31, -0x1.516e512314422p-34,
    0x1.c6b753adcd62ap-37, -0x1.57314b2c3966bp-39, 0x1.1ccc8dee46ba2p-41, -0x1.0038aa8c97fcdp-43,
    0x1.ee57041c74566p-46, -0x1.fae34a8d942b9p-48, 0x1.12481bcc12b43p-49, -0x1.3776ce0bf28c5p-51,
    0x1.7151f961b5e17p-53, -0x1.c7681209da8f1p-55, 0x1.22f7f1cccaeb8p-56, -0x1.802501e310dd9p-58,
};

/* zeta, and what rounding took from it: a phase must be right to an absolute error, and so must an exponent. */
static inline double ow_airy_zeta(double x, double *lost) {
    double root = sqrt(x), product = x * root;
    double rest = fma(x, root, -product) + x * (fma(-root, root, x) / (2 * root));
    double zeta = product * (2.0 / 3);
    *lost = fma(product, 2.0 / 3, -zeta) + (product * 3.70074341541718826e-17 + rest * (2.0 / 3));
    return zeta;
}

static inline double ow_airy_waves(double x) {
    double lost, zeta = ow_airy_zeta(x, &lost), ratio = 16.0 / 3 / zeta;
    double t = 2 * ratio * ratio - 1, p = OW_CHEBYSHEV(t, ow_airy_p), q = OW_CHEBYSHEV(t, ow_airy_q) / zeta;
    double cosine = cos(zeta) * cos(lost) - sin(zeta) * sin(lost), sine = sin(zeta) * cos(lost) + cos(zeta) * sin(lost);
    /* cos(zeta - pi/4) P + sin(zeta - pi/4) Q */
    return 0.39894228040143268 / sqrt(sqrt(x)) * ((cosine + sine) * p + (sine - cosine) * q);
}

static inline double ow_airy_ai(double x) {
    if (x < -4) return x < -1e200 ? 0 : ow_airy_waves(-x); /* zeta would overflow; its phase is long lost */
    if (x < 0) return OW_CHEBYSHEV(0.5 * x + 1, ow_airy_left);
    if (x < 2) return OW_CHEBYSHEV(x - 1, ow_airy_right) * exp(-x);
    if (!(x < 110)) return x >= 110 ? 0 : x;
    double lost, zeta = ow_airy_zeta(x, &lost);
    double scaled = OW_CHEBYSHEV(2 * 1.8856180831641267 / zeta - 1, ow_airy_far) * (1 - lost);
    return 0.28209479177387814 / sqrt(sqrt(x)) * scaled * exp(-zeta);
}

/* Where there are no zeros, single precision needs fewer terms. */
static inline float ow_airy_aif(float x) {
    return (float)(x >= 0 && x < 2 ? ow_chebyshev(x - 1.0, ow_airy_right, 12) * exp(-(double)x) : ow_airy_ai(x));
}

#endif
