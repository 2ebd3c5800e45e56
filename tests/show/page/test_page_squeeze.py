"""Our scripts and styles without idle white space: the same tokens, the same statements."""

from __future__ import annotations

import re
import shutil
import subprocess

import pytest

from exprgrad.show.page.page import (
    OF_NUMBERS,
    SWEEPS,
    VIEWS,
    choose_short_names,
    name_builtins,
    read_asset,
    shorten_script,
    squeeze_script,
    squeeze_style,
)
from scripts import complaint


@pytest.mark.parametrize(
    "script, expected",
    [
        ("const a = 1 + 2;\n", "let a=1+2;"),
        ("let x = a + +b - -c;", "let x=a + +b - -c;"),
        ("// note\nf();\n\n  // more\ng();", "f();g();"),
        ("const f = x => {\n  return x;\n}\nconst g = 1;", "let f=x=>{return x}\nlet g=1;"),
        ("/** IEEE's power. */\nsay('it =  ');", "say('it =  ');"),
        ("a =\n  b;", "a=b;"),
        ("say(\"a  : b\", 'it =  ');", "say(\"a  : b\",'it =  ');"),
        ("`a  ${b  +  c} : e` ? 1 : 2;", "`a  ${b  +  c} : e`?1:2;"),
        (r"x.replace(/(^|\. )./g, y / z / 2);", r"x.replace(/(^|\. )./g,y/z/2);"),
        ("for (const a of b) if (c in d) delete e;", "for(let a of b)if(c in d)delete e;"),
        ('kind === "const" || a;', 'kind==="const"||a;'),
        ("{ f(); } { if (a) f(); }", "{f()}{if(a)f()}"),
        ("f(a, [b, ], {c, });", "f(a,[b],{c});"),
        ("const a = 1;\nconst b = 2;\nlet c;\nlet d; e;", "let a=1,b=2,c,d;e;"),
        ("let a = 1; b = 2;\nlet c;", "let a=1;b=2;let c;"),
        ("if (a) {\n  const b = 1;\n}\nconst c = 2;", "if(a){let b=1}\nlet c=2;"),
        ("const a = b\n  ? c\n  : d;", "let a=b?c:d;"),
        ('"use strict";\nconst é = "\\"  "', '"use strict";let é="\\"  "'),
    ],
)
def test_script(script: str, expected: str) -> None:
    assert squeeze_script(script) == expected


@pytest.mark.parametrize(
    "script, expected",
    [
        ("let first=1,second=first+first;", "let a=1,b=a+a;"),
        ("let first=1;say(`${first} first`,'first');", "let a=1;say(`${a} first`,'first');"),
        ("let first=1;x.first=first;", "let first=1;x.first=first;"),
        ("let user=1;x.user=f({user});", "let a=1;x.a=f({a});"),
        ("let first=1;f({first});", "let first=1;f({first});"),
        ("let first=1;f({first:2});", "let first=1;f({first:2});"),
        ("let{first}=x;f(first);", "let{first}=x;f(first);"),
        ("let[first]=x;f(first);", "let[a]=x;f(a);"),
        ("let f=(first,...other)=>first?other:second;", "let f=(a,...b)=>a?b:second;"),
        ("function f(first){return{first(){}}}", "function f(first){return{first(){}}}"),
        ("if(first){f()}", "if(first){f()}"),
        ("let first=1;a=first/(first/2)/first;", "let b=1;a=b/(b/2)/b;"),
        (
            "let first=1;x.replace(/(first|[/])first/g,first);",
            "let a=1;x.replace(/(first|[/])first/g,a);",
        ),
        ("for(let first of x){f(first)}", "for(let a of x){f(a)}"),
        ("let first=(x=null)=>x;", "let a=(x=null)=>x;"),
    ],
)
def test_names(script: str, expected: str) -> None:
    """Variables' names are short, what has a meaning elsewhere is as it was."""
    assert shorten_script(script, choose_short_names(script)) == expected


@pytest.mark.parametrize(
    "script, expected",
    [
        ("let f=first=>first;let g=other=>other;", "let f=a=>a;let g=a=>a;"),
        ("let f=first=>other=>first+other;", "let f=a=>b=>a+b;"),
        ("let first=1;let g=other=>other;", "let a=1;let g=a=>a;"),
        ("let first=1;let g=other=>other+first;", "let a=1;let g=b=>b+a;"),
        (
            "{let first=1;let g=other=>other+first;let h=third=>third}",
            "{let a=1;let g=b=>b+a;let h=a=>a}",
        ),
    ],
)
def test_statements_share_names(script: str, expected: str) -> None:
    """A name that a statement alone knows may stand in others for something else."""
    assert shorten_script(script, choose_short_names(script)) == expected


def test_long_properties_have_short_names() -> None:
    """As often as that is shorter; keys, texts and properties of ours stay as they are."""
    script = "x.textContent=y?.textContent;f({textContent},`${x.textContent}.textContent`);x.operands=null;"
    script += "g({null:null,a:null,b:null,c:b?null:a,d:[null,null]});" * 2
    assert name_builtins(script + "x.textContent;" * 3) == (
        'let $null=null,$textContent="textContent";\n'
        "x[$textContent]=y?.[$textContent];f({textContent},`${x[$textContent]}.textContent`);"
        "x.operands=$null;"
        + "g({null:$null,a:$null,b:$null,c:b?$null:a,d:[$null,$null]});" * 2
        + "x[$textContent];" * 3
    )
    assert name_builtins("x.textContent;") == "x.textContent;"


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
    assert squeeze_style(style) == expected


@pytest.mark.skipif(not shutil.which("node"), reason="no node")
def test_a_squeezed_script_does_what_it_did() -> None:
    """Lines that go on, texts and templates with signs in them, quotients and patterns."""
    script = """
      const halves = [4, 2].map(x => x / 2 / 1);
      const listed = halves.map(x => `< ${ x } >`).join(" / ");
      const words = `a ; ${listed} : b`;
      let count = 0;
      count++;
      const found = /[:] b$/.test(words) ? words.replace(/[/]/g, "|") : "";
      if (count)
        count = count - -1;
      else
        count = 0;
      console.log(found, count, typeof
        found, [...halves, ]);
    """
    squeezed = squeeze_script(script)
    outputs = [
        subprocess.run(["node", "-e", text], capture_output=True, text=True, check=True).stdout
        for text in (script, squeezed, shorten_script(squeezed, choose_short_names(squeezed)))
    ]
    assert outputs[0] == outputs[1] == outputs[2] == "a ; < 2 > | < 1 > : b 2 string [ 2, 1 ]\n"


@pytest.mark.parametrize("name", [*SWEEPS, *VIEWS, "index"])
def test_the_assets_are_written_as_squeezing_needs_them(name: str) -> None:
    """Comments on lines of their own; no template in another, and none over several lines."""
    refuse_templates(read_asset(f"{name}.js"))


def refuse_templates(script: str) -> None:
    """Raise ``AssertionError`` for a comment behind code, and for templates that are not understood."""
    for line in script.splitlines():
        if not line.strip().startswith("//"):
            quoted = re.findall(r"`[^`]*`", re.sub(r"\$\{[^{}`]*\}", "0", line))
            assert not re.search(r"(?<!:)//", line) and line.count("`") % 2 == 0, line
            assert not any("${" in text for text in quoted), line


@pytest.mark.parametrize("template", ["`a ${`b ${c}`}`", "`a ${f({b})}`", "`a ${{b}.b}`"])
def test_what_squeezing_cannot_read_is_refused(template: str) -> None:
    """Names in a template in a template, or in an object in one, would keep their length there."""
    with pytest.raises(AssertionError):
        refuse_templates(f"say({template});")


OF_TENSORS = {"tensors", "heat"}
"""What stands in for ``OF_NUMBERS``."""


@pytest.mark.parametrize("without", [OF_NUMBERS | {"exact"}, OF_TENSORS | {"vague"}])
def test_no_name_is_declared_twice(without: set[str]) -> None:
    """In one block a name that two files declare is an error, functions' too."""
    texts = [read_asset(f"{name}.js") for name in (*SWEEPS, *VIEWS) if name not in without]
    # The block that one of them opens is closed where all files are joined.
    whole = "\n".join(text.partition("\nfunction build(")[0] for text in texts)
    assert complaint(f'"use strict"; {{ {whole} }}') == ""
    assert "already been declared" in complaint(
        f'"use strict"; {{ {whole}\nfunction show() {{}} }}'
    )
