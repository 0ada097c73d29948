/** Styles of the pages without scripts: one column that fits a phone, with the tokens of `brandStyles`. */
export const pageStyles = `* { box-sizing: border-box; }
body {
  margin: 0; min-height: 100vh; background: var(--brand-canvas); color: var(--brand-ink);
  font: 400 .9375rem/1.55 var(--brand-font); overflow-wrap: anywhere;
  -webkit-font-smoothing: antialiased;
}
header { padding: clamp(1.5rem, 9vh, 5.5rem) 1rem 0; }
.brand {
  display: flex; align-items: center; justify-content: center; gap: .6rem; margin: 0;
  color: var(--brand-ink); font-size: 1.0625rem; font-weight: 600; letter-spacing: -.01em; text-decoration: none;
}
main {
  width: min(25rem, 100% - 2rem); margin: 1.5rem auto 4rem; padding: 2rem;
  background: var(--brand-surface); border: 1px solid var(--brand-line); border-radius: var(--brand-radius-card);
  box-shadow: var(--brand-shadow);
}
main:has(.wide) { width: min(46rem, 100% - 2rem); }
@media (max-width: 30rem) { main { padding: 1.5rem 1.25rem; } }
h1 { margin: 0 0 .5rem; font-size: 1.375rem; font-weight: 600; line-height: 1.25; letter-spacing: -.018em; }
h1 + form { margin-top: 1.25rem; }
h1 + .error, h1 + .note, h1 + h2 { margin-top: 1rem; }
main > p:last-child { margin-bottom: 0; }
h2 { margin: 0 0 .25rem; font-size: 1rem; font-weight: 600; letter-spacing: -.01em; }
p { margin: 0 0 1rem; }
.soft { color: var(--brand-soft); font-size: .875rem; }
label, legend { display: block; font-size: .875rem; font-weight: 500; margin: 0 0 .35rem; }
legend { padding: 0; }
fieldset { border: 0; margin: 0 0 1rem; padding: 0; }
input[type=email], input[type=password], input[type=text], select {
  width: 100%; height: 2.625rem; padding: 0 .75rem; margin: 0 0 1rem; font: inherit; color: inherit;
  background: var(--brand-surface); border: 1px solid var(--brand-edge); border-radius: var(--brand-radius-control);
}
select {
  --down: linear-gradient(45deg, transparent 42%, var(--brand-soft) 42% 62%, transparent 62%);
  --up: linear-gradient(-45deg, transparent 42%, var(--brand-soft) 42% 62%, transparent 62%);
  max-width: 28rem; padding-right: 2.25rem; text-overflow: ellipsis; appearance: none;
  background-image: var(--up), var(--down), var(--down), var(--up);
  background-position: right 17px top calc(50% - 4px), right 12px top calc(50% - 4px), right 17px top calc(50% + 4px), right 12px top calc(50% + 4px);
  background-size: 5px 5px; background-repeat: no-repeat;
}
input:hover, select:hover { border-color: var(--brand-soft); }
input[type=email]:focus, input[type=password]:focus, input[type=text]:focus, select:focus {
  outline: 2px solid var(--brand-accent); outline-offset: -1px; border-color: var(--brand-accent);
}
input[aria-invalid=true] { border-color: var(--brand-bad); }
input:has(+ .soft) { margin-bottom: .35rem; }
.choice {
  display: flex; gap: .65rem; align-items: center; font-size: .9375rem; padding: .65rem .8rem; margin: 0 0 .5rem;
  border: 1px solid var(--brand-line); border-radius: var(--brand-radius-control); cursor: pointer;
}
.choice:hover { background: var(--brand-hover); }
.choice:has(:checked) { border-color: var(--brand-accent); background: var(--brand-accent-soft); }
input[type=radio], input[type=checkbox] { width: 1rem; height: 1rem; margin: 0; accent-color: var(--brand-accent); flex: none; }
button, .button {
  display: inline-flex; align-items: center; justify-content: center; gap: .5rem; min-height: 2.625rem; padding: .4rem 1.1rem;
  font: inherit; font-weight: 600; line-height: 1.3; text-align: center; text-decoration: none; cursor: pointer;
  color: var(--brand-on-button); background: var(--brand-button); border: 1px solid transparent; border-radius: var(--brand-radius-control);
}
.key button { flex: none; }
button[hidden] { display: none; }
button:hover, .button:hover { background: var(--brand-button-hover); }
button.quiet, .button.quiet { color: var(--brand-ink); background: var(--brand-surface); border-color: var(--brand-edge); font-weight: 500; }
button.danger { color: var(--brand-bad); background: var(--brand-surface); border-color: var(--brand-bad); font-weight: 500; }
button.danger:hover { background: var(--brand-bad-soft); }
button.quiet:hover, .button.quiet:hover { background: var(--brand-hover); }
button.small, .button.small { min-height: 2.125rem; padding: .2rem .8rem; font-size: .875rem; }
button.link { min-height: 0; padding: 0; border: 0; background: none; color: var(--brand-accent); font-weight: 500; text-decoration: underline; text-underline-offset: .18em; }
form[data-passkey] { margin: 0 0 1.5rem; }
form + form[data-passkey] { margin-top: 1rem; }
.or { display: flex; gap: .75rem; align-items: center; color: var(--brand-soft); font-size: .875rem; }
.or::before, .or::after { content: ""; flex: 1; border-top: 1px solid var(--brand-line); }
.label { display: flex; justify-content: space-between; align-items: baseline; }
.label .link { font-size: .875rem; }
.key { display: flex; gap: .75rem; align-items: center; justify-content: space-between; padding: .6rem .75rem; background: var(--brand-canvas); border-radius: var(--brand-radius-control); }
form + h2, p + h2 { margin-top: 2rem; }
p:has(> .button:only-child) { margin-top: 1.25rem; }
button.link:hover { background: none; color: var(--brand-accent-hover); }
a { color: var(--brand-accent); font-weight: 500; text-underline-offset: .18em; text-decoration-thickness: 1px; }
:focus-visible { outline: 2px solid var(--brand-accent); outline-offset: 2px; }
.actions { display: flex; flex-wrap: wrap; gap: .65rem; margin-top: 1.25rem; }
.actions > button, .actions > .button { flex: 1 1 auto; }
.actions.equal > button { flex-basis: 0; }
.wide .actions > :is(button, .button) { flex: 0 1 auto; }
.actions > .first { order: -1; }
[data-judged=weak] { color: var(--brand-bad); font-weight: 500; }
[data-judged=good] { color: var(--brand-good); font-weight: 500; }
.error, .note { padding: .65rem .85rem; border-radius: var(--brand-radius-control); font-size: .875rem; font-weight: 500; }
.error { background: var(--brand-bad-soft); color: var(--brand-bad); }
.note { background: var(--brand-accent-soft); }
.foot { margin: 1.5rem 0 0; padding-top: 1.1rem; border-top: 1px solid var(--brand-line); font-size: .875rem; color: var(--brand-soft); }
.foot p { margin: 0 0 .35rem; }
.foot h2 { color: var(--brand-ink); }
section { padding: 1.5rem 0; border-top: 1px solid var(--brand-line); }
section:last-child { padding-bottom: 0; }
section > :last-child { margin-bottom: 0; }
.head { display: flex; flex-wrap: wrap; gap: .75rem 1.5rem; align-items: flex-start; justify-content: space-between; margin-bottom: 1.5rem; }
.head p { margin: 0; }
.row { display: flex; flex-wrap: wrap; gap: .75rem 1.5rem; align-items: center; justify-content: space-between; }
.row p { margin: 0; }
.row > :first-child { flex: 1 1 16rem; }
ul.plain { list-style: none; margin: .75rem 0 0; padding: 0; border: 1px solid var(--brand-line); border-radius: var(--brand-radius-control); }
ul.plain > li { display: flex; flex-wrap: wrap; gap: .5rem 1rem; justify-content: space-between; align-items: center; padding: .7rem .9rem; }
ul.plain + p { margin-top: .75rem; }
ul.plain > li + li { border-top: 1px solid var(--brand-line); }
ul.plain > li > span:first-child { flex: 1 1 14rem; }
ul.plain .soft { display: block; }
.tag { padding: .1rem .55rem; border-radius: 99px; background: var(--brand-good-soft); color: var(--brand-good); font-size: .8125rem; font-weight: 500; }
ul.may { list-style: none; margin: 0 0 1rem; padding: .25rem 0; border-block: 1px solid var(--brand-line); }
ul.may > li { display: flex; gap: .6rem; padding: .45rem 0; }
ul.may > li::before { content: ""; flex: none; width: .9rem; height: .5rem; margin-top: .35rem; border: solid var(--brand-good); border-width: 0 0 2px 2px; transform: rotate(-45deg) scale(.72); }
ul.codes { list-style: none; margin: 0 0 1rem; padding: .9rem 1rem; display: grid; grid-template-columns: repeat(auto-fit, minmax(9.5rem, 1fr)); gap: .4rem 1rem; background: var(--brand-canvas); border-radius: var(--brand-radius-control); }
.qr { width: 12.5rem; max-width: 100%; margin: 0 auto 1rem; padding: .5rem; background: #fff; border: 1px solid var(--brand-line); border-radius: var(--brand-radius-control); }
.qr svg { display: block; width: 100%; height: auto; }
code { font: .9em var(--brand-mono); }
`;
