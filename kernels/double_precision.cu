// Double precision, only with correctly rounded operations: the host's fma, division and sqrt give
// the same bits.

// One step of n bodies under gravity.
struct body {
    double x, y, z, mass, vx, vy, vz, unused;
};

extern "C" __global__ void nbody_step(
        const body *from, body *to, double dt, double softening, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    body b = from[i];
    double ax = 0.0, ay = 0.0, az = 0.0;
    for (int j = 0; j < n; j++) {
        double dx = from[j].x - b.x, dy = from[j].y - b.y, dz = from[j].z - b.z;
        double r2 = fma(dx, dx, fma(dy, dy, fma(dz, dz, softening)));
        double f = from[j].mass / (r2 * sqrt(r2));
        ax = fma(f, dx, ax);
        ay = fma(f, dy, ay);
        az = fma(f, dz, az);
    }
    b.vx = fma(ax, dt, b.vx);
    b.vy = fma(ay, dt, b.vy);
    b.vz = fma(az, dt, b.vz);
    b.x = fma(b.vx, dt, b.x);
    b.y = fma(b.vy, dt, b.y);
    b.z = fma(b.vz, dt, b.z);
    to[i] = b;
}

// p = a polynomial in x by Horner's rule, where coefficients[0] belongs to the highest power; root
// = the result of `steps` Newton steps from 1 towards sqrt(|p|).
extern "C" __global__ void horner_newton(const double *x, const double *coefficients, int count,
        int steps, double *p, double *root, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    double sum = 0.0, r = 1.0;
    for (int j = 0; j < count; j++) sum = fma(sum, x[i], coefficients[j]);
    for (int j = 0; j < steps; j++) r = 0.5 * (r + fabs(sum) / r);
    p[i] = sum;
    root[i] = r;
}
