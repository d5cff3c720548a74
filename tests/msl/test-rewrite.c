// SPDX-License-Identifier: Apache-2.0
// The rewriter: every rule by example, columns mapped back, and robustness against any text.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
// cmocka last: it needs the four headers above.
#include <cmocka.h>

#include "msl/rewrite.h"

typedef struct example {
    const char *from, *to;  // to NULL: unchanged
} example;

static void expect(const char *from, const char *to) {
    igi_msl_rewrite rewrite;
    assert_true(igi_msl_rewrite_source(from, strlen(from), &rewrite));
    assert_string_equal(rewrite.text, to ? to : from);
    assert_int_equal(rewrite.length, strlen(rewrite.text));
    assert_int_equal(rewrite.error_count, 0);
    igi_msl_rewrite_free(&rewrite);
}

static void expect_all(const example *examples, size_t count) {
    for (size_t i = 0; i < count; i++) expect(examples[i].from, examples[i].to);
}
#define EXPECT_ALL(examples) expect_all(examples, sizeof examples / sizeof *examples)

// ---- Attributes ----

#define ANNOTATE(text) "__attribute__((annotate(\"ig." text "))) "
#define CONSTANT "__attribute__((annotate(\"ig.space:constant\")))"

static void attributes_become_annotations(void **state) {
    (void)state;
    static const example examples[] = {
        {"kernel void f(device float *a [[buffer(0)]], uint i [[thread_position_in_grid]]) {}",
         "kernel void f(device float *a  " ANNOTATE("buffer:device\", 0") ", uint i  " ANNOTATE(
             "thread_position_in_grid\"") ") {}"},
        {"void f(constant S &s[[buffer(N + 1)]])", "void f(constant S &s " ANNOTATE("buffer:constant\", N + 1") ")"},
        {"void f(T *p[ [buffer(0)] ])", "void f(T *p " ANNOTATE("buffer:\", 0") ")"},
        {"[[kernel]] void f()", " " ANNOTATE("kernel\"") " void f()"},
        {"template [[host_name(\"f\")]] kernel void f<int>();",
         "template  " ANNOTATE("host_name:\" \"f\"") " kernel void f<int>();"},
        {"[[max_total_threads_per_threadgroup(64), kernel]] void f()",
         " " ANNOTATE("max_total_threads_per_threadgroup\", 64") ANNOTATE("kernel\"") " void f()"},
        {"struct A { device int *p [[id(0)]]; };", "struct A { device int *p  __ig_member_id(0) ; };"},
        {"void f(texture2d<float> t [[texture(0)]])", "void f(texture2d<float> t  " ANNOTATE("texture:\", 0") ")"},
        {"[[kernel, gnu::pure]] void f()", " " ANNOTATE("kernel\"") "[[gnu::pure]] void f()"},
        {"[[gnu::pure, deprecated(\"[[kernel]]\")]] int f();", NULL},
    };
    EXPECT_ALL(examples);
}

static void constant_parameters_without_a_number_say_so(void **state) {
    (void)state;
    static const example examples[] = {
        {"kernel void f(device int *a, constant float &s, constant S<1, 2> *t) {}",
         "kernel void f(device int *a, constant float &s " CONSTANT ", constant S<1, 2> *t " CONSTANT ") {}"},
        {"[[kernel]] void f(constant int &s) {}", " " ANNOTATE("kernel\"") " void f(constant int &s " CONSTANT ") {}"},
        {"kernel void f(constant int &s [[buffer(1)]], constant int &t) {}",
         "kernel void f(constant int &s  " ANNOTATE("buffer:constant\", 1") ", constant int &t " CONSTANT ") {}"},
        // In other functions, and inside kernels.
        {"int f(constant int &s);", NULL},
        {"kernel void f() { g((constant int *)p, h); }", NULL},
    };
    EXPECT_ALL(examples);
}

static void an_attribute_sees_its_own_parameter_only(void **state) {
    (void)state;
    static const example examples[] = {
        {"void f(device T<a, b> *p, threadgroup float *q [[threadgroup(0)]])",
         "void f(device T<a, b> *p, threadgroup float *q  " ANNOTATE("threadgroup:threadgroup\", 0") ")"},
        {"void f(device int *p [[buffer(0), function_constant(has_p)]])",
         "void f(device int *p  " ANNOTATE("buffer:device\", 0") "__attribute__((annotate(\"ig.condition:\" "
                                                                 "__IG_CONDITION(has_p)))) )"},
        // A directive between parameters does not end the list.
        {"void f(int a,\n#if X\n int b,\n#endif\n device int *p [[function_constant(c)]])",
         "void f(int a,\n#if X\n int b,\n#endif\n device int *p  __attribute__((annotate(\"ig.condition:\" "
         "__IG_CONDITION(c)))) )"},
    };
    EXPECT_ALL(examples);
}

static void attributes_work_in_macro_bodies(void **state) {
    (void)state;
    static const example examples[] = {
        {"#define ARG(n) \\\n  [[buffer(n)]]\n", "#define ARG(n) \\\n   " ANNOTATE("buffer:\", n") "\n"},
        {"#define K(name, \\\n          type) \\\n  template [[host_name(name)]] \\\n  f<type>;\n",
         "#define K(name, \\\n          type) \\\n  template  " ANNOTATE("host_name:\" name") " \\\n  f<type>;\n"},
        {"#define A [[buffer( \\\r\n0)]]\nint x;", "#define A  " ANNOTATE("buffer:\", 0") " \\\n\nint x;"},
    };
    EXPECT_ALL(examples);
}

static void an_attribute_without_its_argument_is_an_error(void **state) {
    (void)state;
    const char *source = "void f(device int *p\n [[buffer]], int b [[host_name()]])";
    igi_msl_rewrite rewrite;
    assert_true(igi_msl_rewrite_source(source, strlen(source), &rewrite));
    assert_int_equal(rewrite.error_count, 2);
    assert_string_equal(rewrite.errors[0].message, "attribute 'buffer' needs an argument, as in [[buffer(0)]]");
    assert_int_equal(rewrite.errors[0].offset, strstr(source, "buffer") - source);
    assert_string_equal(rewrite.errors[1].message,
                        "attribute 'host_name' needs an argument, as in [[host_name(\"name\")]]");
    igi_msl_rewrite_free(&rewrite);
}

// ---- Function constants ----

#define SYMBOL(number, type, name) \
    "  __asm__(\"ig.fc.\" __IG_STRING(" number ") \".\" __IG_STRING(" type ") \".\" __IG_STRING(" name "))"

static void function_constants_become_symbols(void **state) {
    (void)state;
    static const example examples[] = {
        {"constant bool a [[function_constant(0)]];", "extern const bool a" SYMBOL("0", "bool", "a") ";"},
        {"static constant unsigned int a [[function_constant(N)]];",
         "extern const unsigned int a" SYMBOL("N", "unsigned int", "a") ";"},
        {"constant metal::uint a [[function_constant(1)]];",
         "extern const metal::uint a" SYMBOL("1", "metal::uint", "a") ";"},
        {"constant vec<float, 4> a [[function_constant(1)]];",
         "extern const vec<float, 4> a" SYMBOL("1", "vec<float, 4>", "a") ";"},
        {"constant int a [[function_constant(0)]], b [[function_constant(1)]];",
         "extern const int a" SYMBOL("0", "int", "a") ", b" SYMBOL("1", "int", "b") ";"},
        {"bool constant a [[function_constant(0)]];", "extern const bool  a" SYMBOL("0", "bool", "a") ";"},
        {"constant\nbool a [[function_constant(0)]];", "extern const\nbool a" SYMBOL("0", "bool", "a") ";"},
    };
    EXPECT_ALL(examples);
}

static void function_constants_may_be_declared_through_macros(void **state) {
    (void)state;
    static const example examples[] = {
        {"STEEL_CONST bool a [[function_constant(0)]];", "extern const bool a" SYMBOL("0", "bool", "a") ";"},
        {"#define FC(n, t, x) constant t x##_fc [[function_constant(n)]];",
         "#define FC(n, t, x) extern const t x##_fc" SYMBOL("n", "t", "x##_fc") ";"},
        // What does not belong to the declaration is unchanged.
        {"FOO(1)\nconstant bool a [[function_constant(0)]];",
         "FOO(1)\nextern const bool a" SYMBOL("0", "bool", "a") ";"},
        {"BEGIN constant bool a [[function_constant(0)]];", "BEGIN extern const bool a" SYMBOL("0", "bool", "a") ";"},
    };
    EXPECT_ALL(examples);
}

// ---- Spellings ----

static void literals_are_float_and_suffixes_ours(void **state) {
    (void)state;
    static const example examples[] = {
        {"a = 0.5;", "a = 0.5f;"},
        {"1e+3 1E+3 0x1p+4 0x1P+4 1+3", "1e+3f 1E+3f 0x1p+4f 0x1P+4f 1+3"},
        {"1. .5 1e3 1.5e-3 1'000.5 0x1p-4 0x1.8p3", "1.f .5f 1e3f 1.5e-3f 1'000.5f 0x1p-4f 0x1.8p3f"},
        {"1 10u 0x1f 0xE 0b11 1'000 10l 10UL 0x1L 0x1bf", NULL},
        {"1.0f 1.0F 1.0h 1e3h", NULL},
        {"1.0bf 1bf 1e3BF 0x1p3bf", "1.0_bf 1_bf 1e3_bf 0x1p3_bf"},
        {"1.0H 1H", "1.0h 1h"},
        {"1.0L 1e3l", "1.0_L 1e3_L"},
        {"#define PI 3.14\n", "#define PI 3.14f\n"},
        {"#include <a-1.0/b>\n#pragma foo 1.0\n#if 1.0\n#endif\n", NULL},
        {"\"1.0\" 'a' R\"x(1.0)x\" // 1.0\n/* 1.0 */", NULL},
    };
    EXPECT_ALL(examples);
}

static void double_is_refused_where_it_is_used(void **state) {
    (void)state;
    static const example examples[] = {
        {"double x; doubles y; // double", "__metal_double x; doubles y; // double"},
        {"(long double)x", "(__metal_double)x"},
        {"#define REAL double\n#include <double>\n#ifdef double\n#endif",
         "#define REAL __metal_double\n#include <double>\n#ifdef double\n#endif"},
    };
    EXPECT_ALL(examples);
}

static void address_spaces_of_the_object_go(void **state) {
    (void)state;
    static const example examples[] = {
        {"struct A { int f() const thread { return 1; } };", "struct A { int f() const  { return 1; } };"},
        {"struct A { int f() device; int g() thread const noexcept; };",
         "struct A { int f() ; int g()  const noexcept; };"},
        {"struct A { A(int x) thread : x(x) {} };", "struct A { A(int x)  : x(x) {} };"},
        {"struct A { int f() const constant { return 1; } };", "struct A { int f() const  { return 1; } };"},
        {"struct A { auto f() noexcept(true) thread -> int; };", "struct A { auto f() noexcept(true)  -> int; };"},
        {"struct A { void f() threadgroup = delete; };", "struct A { void f()  = delete; };"},
        {"template <class R> struct F<R() const thread> {};", "template <class R> struct F<R() const > {};"},
        // An object in constant memory is const.
        {"struct A { int f() constant { return 1; } int operator[](int) constant; };",
         "struct A { int f() const { return 1; } int operator[](int) const; };"},
        {"struct A { constexpr A(int) constant {} template <class T> A(T) constant {} vec<int, 2> f() constant; };",
         "struct A { constexpr A(int)  {} template <class T> A(T)  {} vec<int, 2> f() const; };"},
        {"struct M { constexpr M<T>() constant = default; };", "struct M { constexpr M<T>()  = default; };"},
        {"A::A(int) constant {} int A::f() constant {}", "A::A(int)  {} int A::f() const {}"},
        // Types keep theirs.
        {"FOO(x) constant float b = c; FOO(x) constant const float d = c;", NULL},
        {"__attribute__((unused)) device float *f(device float *p, thread int &i) { if (i) thread int *q = &i; }",
         NULL},
        {"#define SHARED(n) alignas(n) threadgroup\n#define F(x) f(x) device\n", NULL},
        {"#define METHOD f() const thread\n", "#define METHOD f() const \n"},
    };
    EXPECT_ALL(examples);
}

static void casts_that_may_meet_bfloat_are_ours(void **state) {
    (void)state;
    static const example examples[] = {
        {"static_cast<T>(x) + static_cast<bfloat>(y)", "__ig_cast<T>(x) + __ig_cast<bfloat>(y)"},
        {"static_cast<float>(x) + static_cast<uint32_t>(y)", NULL},
        {"typedef bfloat b16;\nstruct b16 { b16(float f) { x = f; } float x; };", NULL},
        {"#define C(T, x) static_cast<T>(x)", "#define C(T, x) __ig_cast<T>(x)"},
    };
    EXPECT_ALL(examples);
}

static void lambda_expressions_are_marked(void **state) {
    (void)state;
    static const example examples[] = {
        {"auto l = [](int i) { return i; };", "auto l = __IG_LAMBDA [](int i) { return i; };"},
        {"f([&x] { g(); }, a[1](2));", "f(__IG_LAMBDA [&x] { g(); }, a[1](2));"},
        {"int a[2] = {b[0], c}; T operator[](int); auto [p, q] = r;", NULL},
    };
    EXPECT_ALL(examples);
}

static void pragmas_of_metal_are_those_of_clang(void **state) {
    (void)state;
    expect("#pragma METAL fp contract(off)\n#pragma METAL internals : enable\n",
           "#pragma clang fp contract(off)\n#pragma METAL internals : enable\n");
    expect("#pragma METAL fp math_mode(safe)\n", "#pragma clang fp contract(on)\n");
    expect("#pragma METAL fp contract(off)\n#pragma METAL fp math_mode(safe)\n",
           "#pragma clang fp contract(off)\n#pragma \n");
}

// ---- Swizzles ----

static void compound_assignment_to_a_swizzle_is_spelled_out(void **state) {
    (void)state;
    static const example examples[] = {
        {"{ v.xy += w; }", "{ v.xy = v.xy + ( w); }"},
        {"{ if (a) s->p[i + 1].x *= b + c; else q.rgb <<= 2; }",
         "{ if (a) s->p[i + 1].x = s->p[i + 1].x * ( b + c); else q.rgb = q.rgb << ( 2); }"},
        {"{ for (;;) v.x -= f(a, b)[2]; }", "{ for (;;) v.x = v.x - ( f(a, b)[2]); }"},
        {"{ v.x += f<a, b>(c); }", "{ v.x = v.x + ( f<a, b>(c)); }"},
        {"{ v.xy += float2{1, 2}; }", "{ v.xy = v.xy + ( float2{1, 2}); }"},
        // Edits inside survive.
        {"{ v.xy += 0.5; }", "{ v.xy = v.xy + ( 0.5f); }"},
        {"{ v.xy +=\n  static_cast<T>(0.5); }", "{ v.xy = v.xy + (\n  __ig_cast<T>(0.5f)); }"},
    };
    EXPECT_ALL(examples);
}

static void other_assignments_stay(void **state) {
    (void)state;
    static const example examples[] = {
        {"{ v.xy = w; v.size += w; x += 1; v.xyzwx += w; v.xg += w; }", NULL},
        {"{ f().xy += w; a[i++].xy += w; a[f(i)].xy += w; a[i = 1].xy += w; (*p).xy += w; }", NULL},  // evaluated twice
        {"{ v.x += a, w.x += b; }", NULL},  // the comma operator
        {"{ v.xy += {1, 2}; }", NULL},
        {"{ y = v.x += w; f(v.x += w); }", NULL},
        {"{ return v.x += w; }", NULL},
        {"#define ADD(v, w) { v.xy += w; }\n", NULL},  // a parameter may hide anything
    };
    EXPECT_ALL(examples);
}

// ---- Overloads ----

#define REFUSED(message) "_Pragma(\"GCC error \\\"" message "\\\"\") "
#define DIFFERENT                                                                                              \
    REFUSED(                                                                                                   \
        "member functions that differ only in the address space of the object must have the same body: Ingot " \
        "cannot choose between them")

#define SUBSCRIPT(parameter, rest)                                                                     \
    "template <class __ig_object> constexpr auto &operator[](this __ig_object &&__ig_self, " parameter \
    ") { return __ig_self." rest

static void subscripts_for_several_address_spaces_are_templates(void **state) {
    (void)state;
    static const example examples[] = {
        {"struct A { device T &operator[](int i) device { return e[i]; }\nthread T &operator[](int i) thread { return "
         "e[i]; } T e[4]; };",
         "struct A { " SUBSCRIPT("int i", "e[i]; }") "\n T e[4]; };"},
        {"struct A { const constant T& operator [] (size_t p) const constant { return e[p]; } const device T& operator "
         "[] "
         "(size_t p) const device { return e[p]; } };",
         "struct A { " SUBSCRIPT("size_t p", "e[p]; }") "  };"},
        // One for objects in one space, others that do more, and those of different members stay what they are.
        {"struct A { device T &operator[](int i) device { return e[i]; } };",
         "struct A {  T &operator[](int i)  { return e[i]; } };"},
        {"struct A { device T &operator[](int i) device { return e[i + 1]; } thread T &operator[](int i) thread { "
         "return "
         "e[i + 1]; } };",
         "struct A {  T &operator[](int i)  { return e[i + 1]; }  };"},
        {"struct A { T operator[](int i) device { return e[i]; } T operator[](int i) thread { return e[i]; } };",
         "struct A { T operator[](int i)  { return e[i]; }  };"},
    };
    EXPECT_ALL(examples);
}

static void member_functions_for_other_address_spaces_go(void **state) {
    (void)state;
    static const example examples[] = {
        {"struct A {\n  operator T() const thread { return t; }\n  operator T() const device { return t; }\n};",
         "struct A {\n  operator T() const  { return t; }\n  \n};"},
        {"struct A { A() thread : a{1}, b{2} {} A() device : a{1}, b{2} {} int c; };",
         "struct A { A()  : a{1}, b{2} {}  int c; };"},
        {"template <class T> struct M { M<T>() = default; M<T>() threadgroup = default; M<T>() constant = default; };",
         "template <class T> struct M { M<T>() = default;   };"},
        // The bodies may name spaces.
        {"struct A { int f() thread { return *(thread int *)p; } int f() device { return *(device int *)p; } };",
         "struct A { int f()  { return *(thread int *)p; }  };"},
        {"struct A { int f() thread { return 1; } int f() device { return 2; } };",
         "struct A { int f()  { return 1; } " DIFFERENT " };"},
        // constant is const here, and const twice is const.
        {"struct A { int f() const device {} int f() constant {} };", "struct A { int f() const  {}  };"},
        // A macro's body is a scope.
        {"#define F(T) T f() device {} \\\n  T f() thread {} \\\n  int x;\n",
         "#define F(T) T f()  {} \\\n   \\\n  int x;\n"},
        // Edits that were due inside are gone; those around are not.
        {"struct A { int f() device { g(1.0); }\nint f() thread { g(1.0); }\nfloat a = 1.0; };",
         "struct A { int f()  { g(1.0f); }\n\nfloat a = 1.0f; };"},
    };
    EXPECT_ALL(examples);
}

static void everything_else_stays(void **state) {
    (void)state;
    static const example examples[] = {
        {"void f(device T *p) { a(); }\nvoid f(threadgroup T *p) {\n  b();\n}\nint x;", NULL},
        {"template <class T> struct X<device T *> { int a; };\ntemplate <class T> struct X<constant T *> { int a; };",
         NULL},
        {"void f(device T *p) {} void f(device T *p) {}", NULL},  // clang's to report
        {"struct A { void f(device T *p) {} }; struct B { void f(thread T *p) {} };", NULL},
        {"void g() { device T *p = a; { thread T *p = b; } h((device T *)p); h((thread T *)p); }", NULL},
        {"MAKE(device) MAKE(thread) MAKE(device); MAKE(thread); static M(device); static M(thread);",
         NULL},  // the macro may paste names
        {"constant float a[] = {1, 2}; constant float b[] = {3};", NULL},
    };
    EXPECT_ALL(examples);
}

static void branches_of_the_preprocessor_are_told_apart(void **state) {
    (void)state;
    static const example examples[] = {
        {"struct A {\n#if A\nint f() const {}\n#else\nint f() const {}\n#endif\n};", NULL},
        {"struct A {\n#if A\nint f() device {}\nint f() thread {}\n#endif\n};",
         "struct A {\n#if A\nint f()  {}\n\n#endif\n};"},
        {"struct A {\nint f() device {}\n#if A\nint f() thread {}\n#endif\n};",
         "struct A {\nint f()  {}\n#if A\n\n#endif\n};"},
        // Both branches open the same scope.
        {"#if A\nstruct X {\n#else\nstruct Y {\n#endif\nint f() thread { }\nint f() device { }\n};\nint f() device;",
         "#if A\nstruct X {\n#else\nstruct Y {\n#endif\nint f()  { }\n\n};\nint f() ;"},
    };
    EXPECT_ALL(examples);
}

// ---- Threadgroup variables ----

static void threadgroup_variables_become_references(void **state) {
    (void)state;
    static const example examples[] = {
        {"{ threadgroup float s[4]; }",
         "{  float __ig_shared_s[4] __IG_SHARED; auto &s = __IG_IN_THREADGROUP(__ig_shared_s); }"},
        {"{ threadgroup atomic<uint> a, b[N]; }",
         "{  atomic<uint> __ig_shared_a __IG_SHARED, __ig_shared_b[N] __IG_SHARED; auto &a = "
         "__IG_IN_THREADGROUP(__ig_shared_a); auto &b = __IG_IN_THREADGROUP(__ig_shared_b); }"},
        {"{ alignas(16) threadgroup T t; }",
         "{ alignas(16)  T __ig_shared_t __IG_SHARED; auto &t = __IG_IN_THREADGROUP(__ig_shared_t); }"},
        {"{ threadgroup int s = 0; }",
         "{  int __ig_shared_s __IG_SHARED = 0; auto &s = __IG_FILLED_IN_THREADGROUP(__ig_shared_s); }"},
        {"{ threadgroup int s[2] = {0}; }",
         "{  int __ig_shared_s[2] __IG_SHARED = {0}; auto &s = __IG_FILLED_IN_THREADGROUP(__ig_shared_s); }"},
        {"struct threadgroup S { int a; };",  // read once, not for ever
         "struct  " REFUSED("a variable in the threadgroup address space cannot have an initializer") "S { int a; };"},
        {"{ threadgroup int s = 1; }",
         "{  int " REFUSED("a variable in the threadgroup address space cannot have an initializer") "s = 1; }"},
        {"#define SHARED(T, n) threadgroup T n[4]\n",
         "#define SHARED(T, n)  T __ig_shared_##n[4] __IG_SHARED; auto &n = __IG_IN_THREADGROUP(__ig_shared_##n)\n"},
        {"#define GROUP threadgroup\n{ GROUP int x; }",
         "#define GROUP threadgroup\n{  int __ig_shared_x __IG_SHARED; auto &x = __IG_IN_THREADGROUP(__ig_shared_x); "
         "}"},
        // Pointers, references, functions and parameters are no such variables.
        {"{ threadgroup T *p = q; threadgroup T &r = *q; threadgroup T *f(threadgroup T *a, threadgroup T &b); }",
         NULL},
    };
    EXPECT_ALL(examples);
}

// ---- Parameters ----

static void arrays_in_a_space_are_pointers(void **state) {
    (void)state;
    static const example examples[] = {
        {"void f(constant int s[2], device T a[N][3]) {}", "void f(constant int *s, device T (*a)[3]) {}"},
        {"#define CONST constant\nvoid f(CONST int s[]);", "#define CONST constant\nvoid f(CONST int *s);"},
        {"void f(T s[2], device T *p [[id(0)]]); int x = f(a[1], b[2]);",
         "void f(T s[2], device T *p  ); int x = f(a[1], b[2]);"},
    };
    EXPECT_ALL(examples);
}

#define NO_SPACE(kind) \
    " " REFUSED(kind " type must have explicit address space qualifier: device, constant, threadgroup or thread")

static void pointers_without_a_space_are_refused(void **state) {
    (void)state;
    static const example examples[] = {
        {"void f(float *p, const uint4 &q);",
         "void f(float " NO_SPACE("pointer") "*p, const uint4 " NO_SPACE("reference") "&q);"},
        {"struct S { half3x3 *m; };", "struct S { half3x3 " NO_SPACE("pointer") "*m; };"},
        {"struct S { int a; }; void f(S &s);", "struct S { int a; }; void f(S " NO_SPACE("reference") "&s);"},
        {"void f(thread float *p, device const S &q, float thread *r, T *t); int x = float(a) * b; x = g(y * z, u & "
         "v);",
         NULL},
    };
    EXPECT_ALL(examples);
}

static void sizes_of_vectors_are_deduced_as_int(void **state) {
    (void)state;
    static const example examples[] = {
        {"template <typename T, uint N> T f(vec<T, N> v) {}", "template <typename T, int N> T f(vec<T, N> v) {}"},
        {"template <typename T, uint N> T f(T v) { vec<T, N> w; }", NULL},
    };
    EXPECT_ALL(examples);
}

static void conversions_between_half_and_bfloat_are_ours(void **state) {
    (void)state;
    static const example examples[] = {
        {"bfloat a = bfloat(h); half b = half(*p), c = (half)a;",
         "bfloat a = __ig_cast<bfloat>(h); half b = __ig_cast<half>(*p), c = (half)(float)a;"},
        {"bfloat f(half); half (*rows)[4]; size_t n = sizeof(half) * 2; operator half() const;", NULL},
        {"half h = half(1) + (half)x;", NULL},  // without bfloat
    };
    EXPECT_ALL(examples);
}

// ---- Strings and conditional operands ----

static void strings_as_arguments_are_constant(void **state) {
    (void)state;
    static const example examples[] = {
        {"x.log(\"a\" \"b\", 1);", "x.log(__IG_CONSTANT_STRING(\"a\" \"b\"), 1);"},
        {"constant T t(\"a\"); x = f(\"b\");",
         "constant T t(__IG_CONSTANT_STRING(\"a\")); x = f(__IG_CONSTANT_STRING(\"b\"));"},
        {"KERNEL(\"a\", float) KERNEL(\"b\", half)\nKERNEL(\"c\", int);", NULL},
        {"static_assert(true, \"x\"); constant char t[] = \"y\"; __attribute__((target(\"z\"))) void f();", NULL},
    };
    EXPECT_ALL(examples);
}

static void conditional_operands_are_marked(void **state) {
    (void)state;
    static const example examples[] = {
        {"x = c ? a[i] : float4(0);", "x = c ? __IG_OPERAND(a[i]) : float4(0);"},
        {"x = c ? p->v : d ? *q : (s).t;", "x = c ? __IG_OPERAND(p->v) : d ? __IG_OPERAND(*q) : __IG_OPERAND((s).t);"},
        {"x = c ? 1 : f(y); z = c ? p : NULL;", "x = c ? 1 : f(y); z = c ? __IG_OPERAND(p) : NULL;"},
        {"switch (a) { case B: x; } struct A : B { int c : 3; }; for (auto e : v) {}", NULL},
    };
    EXPECT_ALL(examples);
}

// ---- Columns ----

static uint32_t locate(const char *source, const char *in_result, uint32_t line) {
    igi_msl_rewrite rewrite;
    assert_true(igi_msl_rewrite_source(source, strlen(source), &rewrite));
    const char *found = strstr(rewrite.text, in_result), *start = found;
    assert_non_null(found);
    while (start > rewrite.text && start[-1] != '\n') start--;
    uint32_t column = igi_msl_rewrite_locate(&rewrite, source, line, (uint32_t)(found - start) + 1);
    igi_msl_rewrite_free(&rewrite);
    return column;
}

// The longest allowed delimiter, sixteen characters.
static void raw_strings_end_at_their_delimiter(void **state) {
    (void)state;
    static const example examples[] = {
        {"R\"(1.0 \")\" 1.0", "R\"(1.0 \")\" 1.0f"},
        {"R\"abcdefghijklmnop(1.0 )\" 1.0 )abcdefghijklmnop\" 1.0",
         "R\"abcdefghijklmnop(1.0 )\" 1.0 )abcdefghijklmnop\" 1.0f"},
    };
    EXPECT_ALL(examples);
}

static void add_edit(igi_msl_edits *edits, size_t offset, size_t length, const char *text) {
    assert_true(igi_msl_edits_add(edits, offset, length, igi_strdup(text)));
}

// Insertions come before a replacement at the same offset, whichever was added first.
static void edits_are_applied_in_order(void **state) {
    (void)state;
    igi_msl_edits edits = {0};
    size_t length;
    add_edit(&edits, 1, 1, "X");
    add_edit(&edits, 1, 0, "i");
    add_edit(&edits, 1, 0, "j");
    add_edit(&edits, 4, 2, "");
    char *text = igi_msl_edits_apply(&edits, "abcdefg", 7, &length);
    assert_string_equal(text, "aijXcdg");
    static const size_t origins[] = {0, 1, 1, 1, 2, 3, 6};
    for (size_t i = 0; i < sizeof origins / sizeof *origins; i++)
        assert_int_equal(igi_msl_edits_origin(&edits, i), origins[i]);
    free(text);
    igi_msl_edits_free(&edits);
}

static void columns_map_back(void **state) {
    (void)state;
    const char *source = "int a;\nvoid f(int p [[buffer(0)]], int q) { v.xy += 1.0 + bad; }\nint z";
    assert_int_equal(locate(source, "int p", 2), 8);
    assert_int_equal(locate(source, "annotate", 2), 14);  // inside a replacement: where it begins
    assert_int_equal(locate(source, "int q", 2), 29);
    assert_int_equal(locate(source, "bad", 2), 52);
    assert_int_equal(locate(source, "v.xy +", 2), 43);  // the copy: at the operator
    assert_int_equal(locate(source, "z", 3), 5);
    igi_msl_rewrite rewrite;
    assert_true(igi_msl_rewrite_source(source, strlen(source), &rewrite));
    assert_int_equal(igi_msl_rewrite_locate(&rewrite, source, 0, 7), 7);
    assert_int_equal(igi_msl_rewrite_locate(&rewrite, source, 1, 0), 0);
    assert_true(igi_msl_rewrite_locate(&rewrite, source, 99, 99) > 0);  // clang would not do this, but nothing breaks
    igi_msl_rewrite_free(&rewrite);
}

static void columns_map_back_around_what_went(void **state) {
    (void)state;
    const char *source =
        "void f(device T *p) {} void f(thread T *p) {} int bad;\nstruct A { int g() const thread { bad2; } };";
    assert_int_equal(locate(source, "int bad", 1), 47);
    assert_int_equal(locate(source, "bad2", 2), 35);
}

// ---- Includes ----

static void includes_are_listed(void **state) {
    (void)state;
    const char *source =
        "#include <metal_stdlib>\n# import \"a b.h\"\n#include MACRO\n// #include <no>\n#include <open\n#include";
    igi_msl_rewrite rewrite;
    assert_true(igi_msl_rewrite_source(source, strlen(source), &rewrite));
    assert_int_equal(rewrite.include_count, 2);
    assert_string_equal(rewrite.includes[0].name, "metal_stdlib");
    assert_false(rewrite.includes[0].quoted);
    assert_string_equal(rewrite.includes[1].name, "a b.h");
    assert_true(rewrite.includes[1].quoted);
    igi_msl_rewrite_free(&rewrite);
}

// ---- Any text ----

static const char plain[] =
    "#include <metal_stdlib>\n"
    "using namespace metal;\n"
    "/* [[buffer(0)]] 1.0 double */ // device const\n"
    "#define MIN(a, b) ((a) < (b) ? (a) : (b)) \\\n"
    "    /* continued */\n"
    "#if defined(X) && X > 1\n"
    "template <typename T, int N = 4> struct S : Base<T>, Other { T a[N]; enum class E : uchar { x, y }; };\n"
    "#else\n"
    "static constexpr constant float table[] = {1.0f, 2.5h, 0x1p3f};\n"
    "#endif\r\n"
    "inline int f(thread const int &x, device float *p) { return x << 2 | (p[0] > 0.f ? 'a' : '\\''); }\n"
    "constant char *s = \"[[kernel]] \\\" 1.0\";\n"
    "\tint a[2][[3]]; a[b[0]] = c; v.xy = w.yx; x += y; \xC3\xA9t\xC3\xA9 = 1;\n";

static void text_without_metal_is_untouched(void **state) {
    (void)state;
    expect(plain, NULL);
    expect("", NULL);
    expect("\n", NULL);
}

static size_t count_lines(const char *text, size_t length) {
    size_t lines = 0;
    for (size_t i = 0; i < length; i++) lines += text[i] == '\n';
    return lines;
}

static void survive(const char *text, size_t length) {
    char *copy = igi_strndup(text, length);  // so that the address sanitizer sees the end
    igi_msl_rewrite rewrite;
    assert_true(igi_msl_rewrite_source(copy, length, &rewrite));
    assert_int_equal(count_lines(rewrite.text, rewrite.length), count_lines(text, length));
    size_t done = 0;
    for (size_t i = 0; i < rewrite.edits.count; i++) {
        assert_true(rewrite.edits.items[i].offset >= done);
        done = rewrite.edits.items[i].offset + rewrite.edits.items[i].length;
    }
    assert_true(done <= length);
    for (uint32_t column = 1; column < 40; column += 3) igi_msl_rewrite_locate(&rewrite, copy, 1, column);
    igi_msl_rewrite_free(&rewrite);
    free(copy);
}

static const char everything[] =
    "#define F(a, \\\n b) constant a##b x [[function_constant(0)]]; \\\n void f(device T *p) {} void f(thread T *p) "
    "{}\n"
    "namespace n { struct A : B { A() thread : a{1} {} A() device : a{1} {} operator T() const constant; }; }\n"
    "#if X\nkernel void k(device float *a [[buffer(0), function_constant(c)]],\n#else\n(\n#endif\n"
    "  uint i [[thread_position_in_grid]]) { s->v[i].xy += 1.0bf + static_cast<T>(long double(2.0)); }\n"
    "R\"x(raw)x\" \"text\" 'c' /* comment */ // line\n#pragma METAL fp contract(off)\n[[gnu::pure]] 0x1p3H";

static void every_beginning_is_survived(void **state) {
    (void)state;
    for (size_t length = 0; length < sizeof everything; length++) survive(everything, length);
    for (size_t start = 0; start < sizeof everything; start++)
        survive(everything + start, sizeof everything - 1 - start);
}

static void every_missing_byte_is_survived(void **state) {
    (void)state;
    char text[sizeof everything];
    for (size_t gap = 0; gap + 1 < sizeof everything; gap++) {
        memcpy(text, everything, gap);
        memcpy(text + gap, everything + gap + 1, sizeof everything - gap - 1);
        survive(text, sizeof everything - 2);
        memcpy(text, everything, sizeof everything);
        text[gap] = 0;
        survive(text, sizeof everything - 1);
    }
}

static void any_order_of_tokens_is_survived(void **state) {
    (void)state;
    static const char *const tokens[] = {
        "device ",
        "constant ",
        "thread ",
        "const ",
        "(",
        ")",
        "[",
        "]",
        "[[",
        "]]",
        "{",
        "}",
        "<",
        ">",
        ";",
        ",",
        ":",
        "::",
        "=",
        "+=",
        "<<=",
        ".",
        "->",
        "x",
        "xy",
        "T ",
        "struct ",
        "namespace ",
        "template ",
        "operator ",
        "noexcept ",
        "if ",
        "else ",
        "\n#if 1\n",
        "\n#else\n",
        "\n#endif\n",
        "\n#define F(a, \\\n b) ",
        "\\\n",
        "\n",
        "buffer(0)",
        "function_constant(0)",
        "kernel ",
        "1.0",
        "1bf",
        "double ",
        "long ",
        "static_cast<",
        "\"",
        "R\"(",
        "'",
        "/*",
        "*/",
        "//",
        "##",
        "public:",
        "extern \"C\" ",
        "\n#pragma METAL fp contract(off)\n",
        "\n#include <",
    };
    uint32_t random = 1;
    for (int round = 0; round < 3000; round++) {
        igi_text text = {0};
        for (int i = 0; i < 60; i++) {
            random = random * 1664525u + 1013904223u;
            igi_text_add(&text, tokens[(random >> 8) % (sizeof tokens / sizeof *tokens)]);
        }
        survive(text.data, text.length);
        igi_text_free(&text);
    }
}

// Each would take minutes if any pass were quadratic in its length.
static void endless_repetition_is_survived(void **state) {
    (void)state;
    static const struct {
        const char *before, *repeated, *after;
    } texts[] = {
        {"", "[[a(", ""},
        {"", "[[a(", ")x"},
        {"", "(", ""},
        {"", "{", "}"},
        {"", "a <", ""},
        {"", "R\"", ""},
        {"kernel void f(", "device T *a [[buffer(0)]], ", ""},
        {"kernel void f(device T *a ", "[[buffer(0)]] ", ""},
        {"constant bool ", "a [[function_constant(0)]], ", ""},
        {"", "void f(device T *a) {} void f(thread T *a) {}\n", ""},
        {"", "struct X<device T *> {}; struct X<thread T *> { ", "};"},
        {"", "#if 1\nvoid f(device T *a) {\n#else\n", "}"},
        {"w ", "w ", "\n#else\n;"},
        {"", "if (x) a.x += ", ""},
        {"a", "[a", "]"},
        {") ", "const thread ", "{"},
        {"", "> f() constant {}\n", ""},
        {"#define X a", "##a", " [[function_constant(0)]]"},
        {"", "long ", "double "},
    };
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        igi_text text = {0};
        igi_text_add(&text, texts[i].before);
        for (int n = 0; n < 30000; n++) igi_text_add(&text, texts[i].repeated);
        for (int n = 0; n < 30000; n++) igi_text_add(&text, texts[i].after);
        survive(text.data, text.length);
        igi_text_free(&text);
    }
}

static void running_out_of_memory_is_reported(void **state) {
    (void)state;
    igi_msl_rewrite rewrite;
    igi_alloc_fail_at(0);
    assert_true(igi_msl_rewrite_source(everything, sizeof everything - 1, &rewrite));
    igi_msl_rewrite_free(&rewrite);
    uint64_t needed = igi_alloc_fail_at(0);
    assert_true(needed > 10);
    for (uint64_t i = 1; i <= needed; i++) {
        igi_alloc_fail_at(i);
        assert_false(igi_msl_rewrite_source(everything, sizeof everything - 1, &rewrite));
    }
    igi_alloc_fail_at(0);
}

int main(void) {
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(attributes_become_annotations),
        cmocka_unit_test(constant_parameters_without_a_number_say_so),
        cmocka_unit_test(an_attribute_sees_its_own_parameter_only),
        cmocka_unit_test(attributes_work_in_macro_bodies),
        cmocka_unit_test(an_attribute_without_its_argument_is_an_error),
        cmocka_unit_test(function_constants_become_symbols),
        cmocka_unit_test(function_constants_may_be_declared_through_macros),
        cmocka_unit_test(literals_are_float_and_suffixes_ours),
        cmocka_unit_test(double_is_refused_where_it_is_used),
        cmocka_unit_test(address_spaces_of_the_object_go),
        cmocka_unit_test(casts_that_may_meet_bfloat_are_ours),
        cmocka_unit_test(lambda_expressions_are_marked),
        cmocka_unit_test(pragmas_of_metal_are_those_of_clang),
        cmocka_unit_test(compound_assignment_to_a_swizzle_is_spelled_out),
        cmocka_unit_test(other_assignments_stay),
        cmocka_unit_test(subscripts_for_several_address_spaces_are_templates),
        cmocka_unit_test(member_functions_for_other_address_spaces_go),
        cmocka_unit_test(threadgroup_variables_become_references),
        cmocka_unit_test(arrays_in_a_space_are_pointers),
        cmocka_unit_test(pointers_without_a_space_are_refused),
        cmocka_unit_test(sizes_of_vectors_are_deduced_as_int),
        cmocka_unit_test(conversions_between_half_and_bfloat_are_ours),
        cmocka_unit_test(strings_as_arguments_are_constant),
        cmocka_unit_test(conditional_operands_are_marked),
        cmocka_unit_test(everything_else_stays),
        cmocka_unit_test(branches_of_the_preprocessor_are_told_apart),
        cmocka_unit_test(raw_strings_end_at_their_delimiter),
        cmocka_unit_test(edits_are_applied_in_order),
        cmocka_unit_test(columns_map_back),
        cmocka_unit_test(columns_map_back_around_what_went),
        cmocka_unit_test(includes_are_listed),
        cmocka_unit_test(text_without_metal_is_untouched),
        cmocka_unit_test(every_beginning_is_survived),
        cmocka_unit_test(every_missing_byte_is_survived),
        cmocka_unit_test(any_order_of_tokens_is_survived),
        cmocka_unit_test(endless_repetition_is_survived),
        cmocka_unit_test(running_out_of_memory_is_reported),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
