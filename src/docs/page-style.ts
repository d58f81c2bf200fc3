// The look of the page: light or dark as the reader's system is, legible on a telephone and on paper, nothing from elsewhere.

export const STYLE = `
:root {
  color-scheme: light dark;
  --text: light-dark(#1d2227, #dde3e8); --quiet: light-dark(#59636d, #98a4af); --ground: light-dark(#fff, #14181c);
  --raised: light-dark(#f4f6f8, #1d2328); --line: light-dark(#dce1e6, #323b43); --accent: light-dark(#0b62a8, #6cb6f5);
}
* { box-sizing: border-box; }
html { scroll-padding-top: 1rem; }
body { margin: 0; background: var(--ground); color: var(--text); font: 16px/1.55 system-ui, sans-serif; }
.frame { display: grid; grid-template-columns: 17rem minmax(0, 1fr); max-width: 78rem; margin: 0 auto; }
nav { position: sticky; top: 0; height: 100vh; overflow-y: auto; padding: 1.5rem 1rem; font-size: .875rem; }
nav ul { list-style: none; margin: 0 0 1rem; padding: 0; }
nav a { display: block; padding: .15rem .5rem; color: inherit; text-decoration: none; overflow-wrap: anywhere; }
nav a:hover, nav a:focus-visible { color: var(--accent); text-decoration: underline; }
nav strong { padding: 0 .5rem; }
main { padding: 1.5rem 1.5rem 6rem; min-width: 0; }
h1, h2, h3, h4 { line-height: 1.25; }
h2 { margin-top: 3rem; padding-top: 1rem; border-top: 1px solid var(--line); }
h3 { margin-top: 2.5rem; overflow-wrap: anywhere; }
h4 { margin: 1.5rem 0 .5rem; }
a { color: var(--accent); }
code, pre { font-family: ui-monospace, monospace; font-size: .875em; }
code { overflow-wrap: anywhere; }
pre { padding: .8rem 1rem; background: var(--raised); border: 1px solid var(--line); border-radius: 6px; overflow-x: auto; }
/* One click selects the whole of an example, to be copied. */
pre.copy { user-select: all; -webkit-user-select: all; }
pre code { overflow-wrap: normal; font-size: inherit; }
.wide { overflow-x: auto; }
table { border-collapse: collapse; width: 100%; font-size: .9375rem; }
th, td { padding: .4rem .6rem; border-bottom: 1px solid var(--line); text-align: left; vertical-align: top; }
th { color: var(--quiet); font-weight: 600; }
.method { color: var(--accent); }
.quiet { color: var(--quiet); }
.skip { position: absolute; left: -999rem; }
.skip:focus { left: 1rem; top: 1rem; padding: .5rem; background: var(--ground); }
@media (max-width: 52rem) {
  .frame { display: block; }
  nav { position: static; height: auto; padding-bottom: 0; }
  nav ul ul { display: none; }
}
@media print { nav { display: none; } .frame { display: block; } pre, table { break-inside: avoid; } }
`;
