/* Arrays of a thread that no register can hold: indexed by data, of structs, two-dimensional,
   passed to functions; a stack machine. */
struct pair {
    short key;
    float value;
};

__noinline__ __device__ int sum(const int *p, int n) {
    int s = 0;
    for (int i = 0; i < n; i++) s += p[i] * (i + 1);
    return s;
}

extern "C" __global__ void local(const int *x, int *o, int n) {
    int t = threadIdx.x, a[32], m[5][7];
    struct pair p[8];
    char text[16] = "local arrays";
    for (int i = 0; i < 32; i++) a[i] = 0;
    for (int i = 0; i < n; i++) a[x[(t + i) % n] & 31] += i;
    for (int i = 0; i < 35; i++) m[i / 7][i % 7] = a[i & 31] ^ i;
    for (int i = 0; i < 8; i++) {
        p[i].key = (short)a[i];
        p[i].value = a[i + 8] * 0.5f;
    }
    struct pair q = p[x[t] & 7];
    o[t] = sum(a, 32) + m[x[t] % 5][t % 7] * 3 + q.key + (int)q.value + text[t % 16];
}
/* enough live values to fill registers, and a stack machine with a stack of its own */
extern "C" __global__ void machine(const unsigned char *program, int length, const int *x, int *o) {
    int stack[16], top = 0, t = blockIdx.x * blockDim.x + threadIdx.x;
    for (int pc = 0; pc < length; pc++) {
        switch (program[pc]) {
        case 0: stack[top++] = x[t]; break;
        case 1: stack[top++] = t; break;
        case 2:
            top--;
            stack[top - 1] += stack[top];
            break;
        case 3:
            top--;
            stack[top - 1] *= stack[top];
            break;
        case 4:
            top--;
            stack[top - 1] -= stack[top];
            break;
        case 5:
            stack[top] = stack[top - 1];
            top++;
            break;
        case 6: {
            int a = stack[top - 1];
            stack[top - 1] = stack[top - 2];
            stack[top - 2] = a;
            break;
        }
        case 7: stack[top - 1] = -stack[top - 1]; break;
        case 8:
            if (stack[--top] < 0) pc += 2;
            break;
        case 9: stack[top - 1] >>= 1; break;
        case 10: stack[top++] = program[++pc]; break;
        default: stack[top - 1] ^= 0x55; break;
        }
    }
    o[t] = stack[top - 1];
}
