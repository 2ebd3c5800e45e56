"""Scripts and styles without idle white space: the same tokens, the same statements."""

from __future__ import annotations

import shutil
import subprocess

import pytest

from exprgrad.draw.page.squeeze import squeezed_script, squeezed_style


@pytest.mark.parametrize(
    "script, expected",
    [
        ("const a = 1 + 2;\n", "let a=1+2;"),
        ("let x = a + +b - -c;", "let x=a+ +b- -c;"),
        ("// note\nf();\n\n/* more\nlines */\ng();", "f();g();"),
        ("const f = x => {\n  return x;\n}\nconst g = 1", "let f=x=>{return x},g=1"),
        ("a\nb", "a\nb"),
        ("a =\n  b", "a=b"),
        ("say(\"a  // b\", 'it  ')", "say(\"a  // b\",'it  ')"),
        ("`a  ${b  +  `c  ${ {d :  1}.d }`}  // e`", "`a  ${b+`c  ${{d:1}.d}`}  // e`"),
        (r"x.replace(/ \/ [/ ]+ /g, y / z / 2)", r"x.replace(/ \/ [/ ]+ /g,y/z/2)"),
        ("for (const a of b) if (c in d) delete e", "for(let a of b)if(c in d)delete e"),
        ("{ for (;;); }  { while (x); }  { a; ; }", "{for(;;);}{while(x);}{a;;}"),
        ("{ f(); } { if (a) f(); } { while (a); }", "{f()}{if(a)f()}{while(a);}"),
        ("f(a, [b, ], {c, });\n[, , ]", "f(a,[b],{c});[,,]"),
        ("const a = 1;\nconst b = 2; let c;\nlet d; e", "let a=1,b=2,c,d;e"),
        (
            "const f = () => {\n  let a;\n}\nconst g = 1;\n\nconst h = 2",
            "let f=()=>{let a},g=1,h=2",
        ),
        ("for (const a of b) c;\nconst d = 1", "for(let a of b)c;let d=1"),
        ("if (a) {\n  const b = 1;\n}\nconst c = 2", "if(a){let b=1}\nlet c=2"),
        ("const a = b\n+ 1;\nconst c = 2", "let a=b\n+1;let c=2"),
        ('"use strict";\nconst é = "\\"  "', '"use strict";let é="\\"  "'),
    ],
)
def test_script(script: str, expected: str) -> None:
    assert squeezed_script(script) == expected


@pytest.mark.parametrize(
    "style, expected",
    [
        ("/* note */\na { color: red; }\n", "a{color:red}"),
        (
            "a, b > c:not(.d) {\n  margin: 0 auto;\n  padding: 1px }",
            "a,b>c:not(.d){margin:0 auto;padding:1px}",
        ),
        ("a { x: 0 !important }", "a{x:0!important}"),
        ("a + b { x: calc(1px + 2px) }", "a + b{x:calc(1px + 2px)}"),
    ],
)
def test_style(style: str, expected: str) -> None:
    assert squeezed_style(style) == expected


@pytest.mark.skipif(not shutil.which("node"), reason="no node")
def test_a_squeezed_script_does_what_it_did() -> None:
    """Line ends that end statements, templates in templates, quotients and patterns."""
    script = """
      const halves = [4, 2].map(x => x / 2 / 1)
      const words = `a ${halves
        .map(x => `<${ x }>`).join(" / ")} b`   // a note
      let count = 0
      count++
      const found = / b$/.test(words) ? words.replace(/[/]/g, "|") : ""
      if (count)
        count = count - -1
      else
        count = 0
      console.log(found, count, typeof
        found)
    """
    outputs = [
        subprocess.run(["node", "-e", text], capture_output=True, text=True, check=True).stdout
        for text in (script, squeezed_script(script))
    ]
    assert outputs[0] == outputs[1] == "a <2> | <1> b 2 string\n"
