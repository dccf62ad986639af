#pragma once

// The activations of linear layers and their derivatives, for several vectors at a time: each
// constant is loaded once for all of them, and their dependency chains are independent. Make the
// objects before a loop, because they hold constants.

#include "simd/vector.hpp"

namespace heed::simd {

template <class Isa>
struct Relu {
  using V = Vector<Isa>;
  template <int N>
  void operator()(V (&x)[N]) const noexcept {
    for (V& v : x) v = select(v < V(0.0f), V(0.0f), v);
  }
};

/// q = c[0] t^(count - 1) + ... + c[count - 1]
template <class Isa, int N>
inline void polynomial(const float* c, int count, const Vector<Isa> (&t)[N],
                       Vector<Isa> (&q)[N]) noexcept {
  for (int n = 0; n < N; ++n) q[n] = Vector<Isa>(c[0]);
  for (int i = 1; i < count; ++i) {
    const Vector<Isa> next(c[i]);
    for (int n = 0; n < N; ++n) q[n] = madd<Isa>(q[n], t[n], next);
  }
}

/// x Phi(x) = x (1/2 + x q(x^2)), with an error of at most 2.2e-7 max(1, |x|). Beyond |x| = 5.2 the
/// result is exactly x or 0, because Phi(-5.2) is 1e-7. The polynomial q has degree 13 in
/// x^2 / 13.52 - 1, a variable in which its coefficients are small. It is interpolated at the
/// Chebyshev nodes (error 4.3e-8). It needs no division, as a rational function would, and no
/// exponential, as erfc would.
template <class Isa>
class Gelu {
 public:
  using V = Vector<Isa>;

  Gelu() noexcept {
    // Hides the array from the compiler: V8 loads a number from memory in one instruction, and
    // needs several for a constant.
    asm("" : "+r"(c_));
  }

  template <int N>
  void operator()(V (&x)[N]) const noexcept {
    V t[N], q[N];
    for (int n = 0; n < N; ++n) {
      t[n] = min(madd<Isa>(x[n] * x[n], V(c_[0]), V(c_[1])), V(c_[2]));
    }
    polynomial<Isa>(c_ + 3, kCount - 3, t, q);
    const V half(c_[kCount]), zero(c_[kCount + 1]), one(c_[2]);
    for (int n = 0; n < N; ++n) {
      const V phi = madd<Isa>(x[n], q[n], half);
      x[n] *= max(min(phi, one), zero);
    }
  }

 private:
  static constexpr int kCount = 17;
  static constexpr float kNumbers[] = {0.0739644989f,
                                       -1.0f,
                                       1.0f,
                                       -0.000558536209f,
                                       0.00131696626f,
                                       -0.000995556125f,
                                       0.001667417f,
                                       -0.00504006678f,
                                       0.00869502313f,
                                       -0.0123733021f,
                                       0.017892139f,
                                       -0.0247566085f,
                                       0.0320029147f,
                                       -0.0399263762f,
                                       0.0500235595f,
                                       -0.0677437633f,
                                       0.135949999f,
                                       0.5f,
                                       0.0f};
  const float* c_ = kNumbers;
};

/// x / (1 + exp(-s)), with the exponential of -|s|, which cannot overflow. Relative error below
/// 5e-7; where s is below -86.6 the result is zero.
template <class Isa>
class TimesSigmoid {
 public:
  using V = Vector<Isa>;

  V operator()(V x, V s) const noexcept {
    const V e = exp_.natural(-abs(s));
    return x * select(s < V(0.0f), e, V(1.0f)) / (V(1.0f) + e);
  }

 private:
  Exp2<Isa> exp_;
};

template <class Isa>
struct Silu {
  using V = Vector<Isa>;
  template <int N>
  void operator()(V (&x)[N]) const noexcept {
    for (V& v : x) v = times_sigmoid(v, v);
  }
  TimesSigmoid<Isa> times_sigmoid;
};

/// x / 2 (1 + tanh(u)) = x / (1 + exp(-2 u)) with u = sqrt(2 / pi) (x + 0.044715 x^3).
template <class Isa>
struct GeluTanh {
  using V = Vector<Isa>;
  template <int N>
  void operator()(V (&x)[N]) const noexcept {
    for (V& v : x) v = times_sigmoid(v, v * madd<Isa>(v * v, cubic, linear));
  }
  TimesSigmoid<Isa> times_sigmoid;
  V cubic = held<Isa>(0.0713548162726f);
  V linear = held<Isa>(1.59576912161f);
};

/// tanh(x) = x p(x^2) / q(x^2), relative error below 4e-7. The polynomials p and q, of degree 4,
/// are minimax up to |x| = 8.5 (1.2e-8), found by Lawson's reweighting of least squares. All their
/// terms are positive, so that nothing cancels. Beyond 8.5, where tanh is 1 in float, the quotient
/// exceeds 1 and the result is clamped to 1. x is clamped to 9.25, where the excess is larger than
/// the error.
template <class Isa>
class Tanh {
 public:
  using V = Vector<Isa>;

  Tanh() noexcept { asm("" : "+r"(c_)); }  // as in Gelu

  template <int N>
  void operator()(V (&x)[N]) const noexcept {
    V square[N], p[N], q[N];
    for (int n = 0; n < N; ++n) {
      x[n] = at_most<Isa>(at_least<Isa>(x[n], V(c_[0])), V(c_[1]));
      square[n] = x[n] * x[n];
      p[n] = V(c_[2]);
      q[n] = V(c_[3]);
    }
    for (int i = 4; i < kCount; i += 2)
      for (int n = 0; n < N; ++n) {
        p[n] = madd<Isa>(p[n], square[n], V(c_[i]));
        q[n] = madd<Isa>(q[n], square[n], V(c_[i + 1]));
      }
    for (int n = 0; n < N; ++n)
      x[n] = at_most<Isa>(at_least<Isa>(x[n] * (p[n] / q[n]), V(c_[kCount])), V(c_[kCount - 1]));
  }

 private:
  static constexpr int kCount = 12;
  static constexpr float kNumbers[] = {-9.25f,         9.25f,           //
                                       1.42692312e-8f, 8.14512919e-7f,  //
                                       2.12510615e-5f, 3.34886709e-4f,  //
                                       3.53402852e-3f, 2.60227583e-2f,  //
                                       1.34132485e-1f, 4.67465713e-1f,  //
                                       0.999999988f,   1.0f,           -1.0f};
  const float* c_ = kNumbers;
};

template <class Isa>
struct Sigmoid {
  using V = Vector<Isa>;
  template <int N>
  void operator()(V (&x)[N]) const noexcept {
    for (V& v : x) v = times_sigmoid(V(1.0f), v);
  }
  TimesSigmoid<Isa> times_sigmoid;
};

// Their derivatives: slope = f'(x).

template <class Isa>
struct ReluSlope {
  using V = Vector<Isa>;
  template <int N>
  void operator()(const V (&x)[N], V (&slope)[N]) const noexcept {
    for (int n = 0; n < N; ++n) slope[n] = select(x[n] <= V(0.0f), V(0.0f), V(1.0f));
  }
};

/// Phi(x) + x exp(-x^2 / 2) / sqrt(2 pi) = 1/2 + x q(x^2), with an error of at most 5.2e-7. Beyond
/// |x| = 5.6 it is 0 or 1 exactly. q is found as for Gelu, of degree 15 in x^2 / 15.68 - 1; an
/// exponential would need more operations.
template <class Isa>
class GeluSlope {
 public:
  using V = Vector<Isa>;

  GeluSlope() noexcept { asm("" : "+r"(c_)); }

  template <int N>
  void operator()(const V (&x)[N], V (&slope)[N]) const noexcept {
    V t[N], q[N];
    for (int n = 0; n < N; ++n) t[n] = madd<Isa>(x[n] * x[n], V(c_[0]), V(c_[1]));
    polynomial<Isa>(c_ + 5, kCount, t, q);
    const V end(c_[2]), half(c_[3]), one(c_[4]);
    for (int n = 0; n < N; ++n) {
      const V beyond = select(x[n] > end, one, V(0.0f));
      slope[n] = select(abs(x[n]) > end, beyond, madd<Isa>(x[n], q[n], half));
    }
  }

 private:
  static constexpr int kCount = 16;
  static constexpr float kNumbers[] = {0.0637755096f,
                                       -1.0f,
                                       5.6f,
                                       0.5f,
                                       1.0f,
                                       -0.00792773254f,
                                       0.0169845801f,
                                       -0.00295214914f,
                                       -0.000579871994f,
                                       -0.0375024006f,
                                       0.0605927818f,
                                       -0.0522507392f,
                                       0.0581361391f,
                                       -0.0734689236f,
                                       0.0738021061f,
                                       -0.0649493709f,
                                       0.0564117469f,
                                       -0.0509655103f,
                                       0.0518210195f,
                                       -0.0642825067f,
                                       0.126416534f};
  const float* c_ = kNumbers;
};

/// s + x s (1 - s) u' with s = 1 / (1 + exp(-u)) and the u of GeluTanh. Beyond |x| = 10, s is 0 or
/// 1; x^2 is limited to 100 there and does not overflow.
template <class Isa>
struct GeluTanhSlope {
  using V = Vector<Isa>;
  template <int N>
  void operator()(const V (&x)[N], V (&slope)[N]) const noexcept {
    for (int n = 0; n < N; ++n) {
      const V square = min(x[n] * x[n], most);
      const V s = times_sigmoid(V(1.0f), x[n] * madd<Isa>(square, cubic, linear));
      const V inner = madd<Isa>(square, cubic * V(3.0f), linear);
      slope[n] = madd<Isa>(x[n] * (s - s * s), inner, s);
    }
  }
  TimesSigmoid<Isa> times_sigmoid;
  V cubic = held<Isa>(0.0713548162726f);
  V linear = held<Isa>(1.59576912161f);
  V most = held<Isa>(100.0f);
};

/// s (1 + x (1 - s)) with s = 1 / (1 + exp(-x))
template <class Isa>
struct SiluSlope {
  using V = Vector<Isa>;
  template <int N>
  void operator()(const V (&x)[N], V (&slope)[N]) const noexcept {
    for (int n = 0; n < N; ++n) {
      const V s = times_sigmoid(V(1.0f), x[n]);
      slope[n] = s * madd<Isa>(x[n], V(1.0f) - s, V(1.0f));
    }
  }
  TimesSigmoid<Isa> times_sigmoid;
};

template <class Isa>
struct TanhSlope {
  using V = Vector<Isa>;
  template <int N>
  void operator()(const V (&x)[N], V (&slope)[N]) const noexcept {
    for (int n = 0; n < N; ++n) slope[n] = x[n];
    tanh(slope);
    for (V& y : slope) y = V(1.0f) - y * y;
  }
  Tanh<Isa> tanh;
};

template <class Isa>
struct SigmoidSlope {
  using V = Vector<Isa>;
  template <int N>
  void operator()(const V (&x)[N], V (&slope)[N]) const noexcept {
    for (int n = 0; n < N; ++n) {
      const V s = times_sigmoid(V(1.0f), x[n]);
      slope[n] = s - s * s;
    }
  }
  TimesSigmoid<Isa> times_sigmoid;
};

}  // namespace heed::simd
