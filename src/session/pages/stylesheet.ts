/** Styles of the pages: one column, readable on a phone, in the browser's light or dark mode. */
export const stylesheet = `
:root {
  color-scheme: light dark;
  --ground: light-dark(#f4f5f7, #14171c);
  --card: light-dark(#ffffff, #1d2128);
  --ink: light-dark(#1b1f27, #e9ecf1);
  --soft: light-dark(#545c6b, #a9b2c0);
  --line: light-dark(#c9ced8, #454d5a);
  --accent: light-dark(#1d4ed8, #8db4ff);
  --on-accent: light-dark(#ffffff, #10182b);
  --bad: light-dark(#a3151a, #ff9c9c);
  --bad-ground: light-dark(#fdecec, #3a1d1f);
  --note-ground: light-dark(#e8effd, #1f2a40);
}
* { box-sizing: border-box; }
body {
  margin: 0; min-height: 100vh; background: var(--ground); color: var(--ink);
  font: 1rem/1.5 system-ui, sans-serif; overflow-wrap: anywhere;
}
header { padding: 1.5rem 1rem 0; text-align: center; }
.brand { margin: 0; font-weight: 700; letter-spacing: .02em; }
main {
  width: min(28rem, 100% - 2rem); margin: 1.25rem auto 3rem; padding: 1.75rem;
  background: var(--card); border: 1px solid var(--line); border-radius: .75rem;
}
main:has(.wide) { width: min(44rem, 100% - 2rem); }
h1 { margin: 0 0 .75rem; font-size: 1.4rem; line-height: 1.25; }
h2 { margin: 2rem 0 .5rem; font-size: 1.1rem; }
p { margin: 0 0 1rem; }
.soft { color: var(--soft); font-size: .925rem; }
label, legend { display: block; font-weight: 600; margin: 0 0 .3rem; }
legend { padding: 0; }
fieldset { border: 0; margin: 0 0 1rem; padding: 0; }
input[type=email], input[type=password], input[type=text] {
  width: 100%; padding: .6rem .7rem; margin: 0 0 1rem; font: inherit; color: inherit;
  background: var(--ground); border: 1px solid var(--soft); border-radius: .4rem;
}
.choice { display: flex; gap: .6rem; align-items: baseline; font-weight: 400; padding: .35rem 0; }
button {
  font: inherit; font-weight: 600; padding: .65rem 1.1rem; min-height: 2.75rem; border-radius: .4rem;
  border: 1px solid var(--accent); background: var(--accent); color: var(--on-accent); cursor: pointer;
}
button.quiet { background: transparent; color: var(--accent); }
button.link { border: 0; padding: 0; min-height: 0; background: none; color: var(--accent); text-decoration: underline; font-weight: 400; }
a { color: var(--accent); }
:focus-visible { outline: 3px solid var(--accent); outline-offset: 2px; }
.actions { display: flex; flex-wrap: wrap; gap: .75rem; margin-top: 1.25rem; }
.error, .note { padding: .7rem .9rem; border-radius: .4rem; }
.error { background: var(--bad-ground); color: var(--bad); }
.note { background: var(--note-ground); }
.foot { margin: 1.5rem 0 0; padding-top: 1rem; border-top: 1px solid var(--line); font-size: .925rem; }
ul.plain { list-style: none; margin: 0; padding: 0; }
ul.plain > li { display: flex; flex-wrap: wrap; gap: .5rem 1rem; justify-content: space-between; align-items: center; padding: .75rem 0; border-top: 1px solid var(--line); }
ul.plain > li > span { flex: 1 1 14rem; }
ul.may { margin: 0 0 1rem; padding-left: 1.2rem; }
ul.codes { list-style: none; margin: 0 0 1rem; padding: 0; display: grid; grid-template-columns: repeat(auto-fit, minmax(11.5rem, 1fr)); gap: .4rem 1rem; }
.qr { width: 12rem; max-width: 100%; background: #fff; padding: .5rem; border-radius: .4rem; }
.qr svg { display: block; width: 100%; height: auto; }
code { font-family: ui-monospace, monospace; }
`;
