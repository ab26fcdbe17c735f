#!/usr/bin/env python3
"""Which mutants sites.py finds in a few lines, and what the sources look like with them."""
import unittest

import sites


def words(text):
    return [mutant.words() for mutant in sites.Source("a.cc", text).mutants]


def rewritten(text, kind):
    source = sites.Source("a.cc", text)
    chosen = [mutant for mutant in source.mutants if mutant.kind == kind]
    for number, mutant in enumerate(chosen, 1):
        mutant.number = number
    return sites.rewritten(source, chosen)


class Sites(unittest.TestCase):
    def test_kinds(self):
        cases = {
            "bool f(int a) { return a < 2; }": [
                "result: a < 2 → its negation", "relation: a < 2 → <=", "constant: bool f(int a) { return a < 2; } → 2 + 1"],
            "void f() { if (a && !b) g(); }": [
                "condition: a && !b → its negation", "logic: a && !b → ||", "negation: !b → b", "statement: g(); → left out"],
            "std::optional<int> f() { return x; }": ["result: x → {}"],
            "int f() { return std::min(a, b); }": [
                "result: std::min(a, b) → {}", "extreme: std::min(a, b) → std::max"],
            "void f() { x = g(); ++y; }": ["statement: x = g(); → left out", "statement: ++y; → left out"],
            "int f() { return c ? x : y; }": ["result: c ? x : y → {}", "condition: c → its negation"],
        }
        for text, want in cases.items():
            with self.subTest(text):
                self.assertEqual(sorted(words(text)), sorted(want))

    def test_what_is_no_place(self):
        for text in (
                "class A { A(int x); void f(); int x_ = 0; };",      # declarations
                "void f() { std::vector<int> a(n); }",              # a variable, and template arguments
                "void f() { constexpr int kMost = 3; }",            # computed by the compiler
                "static_assert(sizeof(int) == 4);",
                "void f() { // if (a < b) g();\n }",                # a comment
                'void f() { std::string s = "a < b && c"; }',
                "#define F(x) (x < 1)\n",
                "const T& f() { return x; }",                        # {} would dangle
                "void f() { g([](auto&& x) -> T& { return x; }) ; }".replace("g(", "auto y = g(")):
            with self.subTest(text):
                self.assertEqual(words(text), [])

    def test_operands_end_where_the_operator_binds_less(self):
        self.assertEqual(rewritten("bool f() { return a + g(b, c) < d && e < h[1]; }", "relation"),
                         "bool f() { return mutants::less<1>(a + g(b, c) , d) && mutants::less<2>(e , h[1]); }")
        self.assertEqual(rewritten("void f() { x = p->a == q ? r : s; }", "relation"),
                         "void f() { x = mutants::equal<1>(p->a , q) ? r : s; }")

    def test_what_is_done_to_a_result_is_around_the_operator(self):
        self.assertEqual(rewritten("bool f() { return a < b; }", "result"),
                         "bool f() { return (static_cast<bool>(a < b) != mutants::on(1)); }")
        source = sites.Source("a.cc", "bool f() { return a < b; }")
        for number, mutant in enumerate(source.mutants, 1):
            mutant.number = number
        self.assertIn("(static_cast<bool>(mutants::less<", sites.rewritten(source, source.mutants))

    def test_lines_stay(self):
        text = "void f() {\n  g(a,\n    b);\n  if (c ||\n      d) h();\n}\n"
        source = sites.Source("a.cc", text)
        for number, mutant in enumerate(source.mutants, 1):
            mutant.number = number
        self.assertEqual(sites.rewritten(source, source.mutants).count("\n"), text.count("\n"))
        self.assertEqual([mutant.line for mutant in source.mutants], [2, 4, 4, 5])


if __name__ == "__main__":
    unittest.main()
