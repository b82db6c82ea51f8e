import { standInKinds } from '../../providers/people.ts';
import { type StandInTraits, standInTraits } from '../../providers/traits.ts';

/** The colors of the providers, by the class of the page. */
const marks = (scheme: keyof StandInTraits['colors']): string =>
  standInKinds.map((kind) => `.${kind} { --mark: ${standInTraits[kind].colors[scheme]}; }`).join(' ');

/** Only for the providers' pages: they belong to another site, so they share no style sheets with Foyer. */
export const providerStyle = `
:root { color-scheme: light dark; --ink: #1d1f24; --soft: #565b66; --line: #8a8f9a; --faint: #d8dae0; --paper: #fff; --ground: #eef0f4; --mark: #3c4a6b; --hover: #f3f4f7; }
@media (prefers-color-scheme: dark) { :root { --ink: #eceef2; --soft: #b3b8c2; --line: #7d828d; --faint: #40444d; --paper: #1e2026; --ground: #121317; --mark: #a9b8dd; --hover: #2a2d35; } }
${marks('light')}
@media (prefers-color-scheme: dark) { ${marks('dark')} }
* { box-sizing: border-box; }
body { margin: 0; min-height: 100vh; padding: 1rem; background: var(--ground); color: var(--ink); font: 1rem/1.5 system-ui, sans-serif; }
main { max-width: 27rem; margin: 0 auto; padding: 1.5rem; border-radius: 1rem; border-top: .375rem solid var(--mark); background: var(--paper); }
@media (min-width: 40rem) { body { padding-top: 8vh; } main { padding: 2.25rem; } }
h1 { margin: 0 0 .25rem; font-size: 1.5rem; line-height: 1.25; font-weight: 600; }
h2 { margin: 1.5rem 0 .5rem; font-size: 1.0625rem; }
p { margin: 0 0 1rem; }
.provider { margin: 0 0 1rem; color: var(--mark); font-weight: 700; letter-spacing: .01em; }
.soft, footer { color: var(--soft); }
code { overflow-wrap: anywhere; }
ul { margin: 1.25rem 0 0; padding: 0; list-style: none; }
li + li { margin-top: .5rem; }
section h2 { margin: 1rem 0 .375rem; font-size: .9375rem; }
button { min-height: 2.75rem; padding: .5rem 1rem; border: 1px solid var(--line); border-radius: .625rem; background: none; color: inherit; font: inherit; cursor: pointer; }
button:hover { background: var(--hover); }
button.main { border-color: var(--mark); background: var(--mark); color: var(--paper); font-weight: 600; }
button.main:hover { filter: brightness(.93); }
button.account { display: flex; align-items: center; gap: .875rem; width: 100%; padding: .625rem .75rem; text-align: start; }
.initials { flex: none; display: grid; place-items: center; width: 2.5rem; height: 2.5rem; border-radius: 50%; background: var(--mark); color: var(--paper); font-weight: 600; }
.who { min-width: 0; display: grid; }
.who > span { overflow-wrap: anywhere; }
.who .soft { font-size: .9375rem; }
details { margin-top: .75rem; border: 1px solid var(--faint); border-radius: .625rem; }
summary { min-height: 2.75rem; padding: .625rem .875rem; border-radius: .625rem; cursor: pointer; }
details > div { padding: .25rem .875rem .875rem; }
label { display: block; margin: .5rem 0 .25rem; font-weight: 550; }
input:not([type=checkbox]) { width: 100%; min-height: 2.75rem; padding: .5rem .75rem; border: 1px solid var(--line); border-radius: .5rem; background: var(--paper); color: inherit; font: inherit; }
label.tick { display: flex; align-items: center; gap: .625rem; min-height: 2.75rem; font-weight: 400; }
input[type=checkbox] { width: 1.25rem; height: 1.25rem; margin: 0; accent-color: var(--mark); }
.broken { display: flex; flex-wrap: wrap; gap: .5rem; margin: 0; }
.broken li { margin: 0; }
.broken button { padding: .25rem .75rem; font-size: .875rem; }
.told h2 { margin: 0; }
.told p { margin: 0; }
.told + .told { margin-top: 1rem; padding-top: 1rem; border-top: 1px solid var(--faint); }
.end { display: flex; flex-wrap: wrap; justify-content: flex-end; gap: .75rem; margin-top: 1.25rem; }
:focus-visible { outline: 3px solid var(--mark); outline-offset: 2px; }
a { color: var(--mark); }
footer { max-width: 27rem; margin: 1rem auto 0; font-size: .875rem; text-align: center; }
`;
