/** The parameter `appearance` of Stripe's elements (docs.stripe.com/elements/appearance-api). */
export interface Appearance {
  theme?: string;
  variables?: Record<string, string>;
  rules?: Record<string, Record<string, string>>;
}

/** The class of the payment element, to which its style sheet is limited. */
export const elementClass = 'stand-in-payment';

/** Stripe's own values; those of the theme `night` replace some. */
const variables = {
  colorPrimary: '#0570de',
  colorBackground: '#ffffff',
  colorText: '#30313d',
  colorTextSecondary: '#6d6e78',
  colorTextPlaceholder: '#757680',
  colorDanger: '#df1b41',
  fontFamily: 'system-ui, sans-serif',
  fontSizeBase: '16px',
  fontSizeSm: '14.88px',
  borderRadius: '5px',
  gridRowSpacing: '12px',
  gridColumnSpacing: '12px',
};
const nightVariables = { colorBackground: '#30313d', colorText: '#ffffff', colorTextSecondary: '#a3a4ac' };

/** The looks that the rules of a page may change. */
const rules: NonNullable<Appearance['rules']> = {
  '.Label': { display: 'block', marginBottom: '4px', fontSize: 'var(--fontSizeSm)' },
  '.Input': {
    display: 'block',
    boxSizing: 'border-box',
    width: '100%',
    margin: '0',
    padding: '12px',
    border: '1px solid #e6e6e6',
    borderRadius: 'var(--borderRadius)',
    backgroundColor: 'var(--colorBackground)',
    color: 'inherit',
    font: 'inherit',
    fontSize: 'var(--fontSizeBase)',
    appearance: 'none',
  },
  '.Input::placeholder': { color: 'var(--colorTextPlaceholder)', opacity: '1' },
  '.Input--invalid': { borderColor: 'var(--colorDanger)', color: 'var(--colorDanger)' },
  '.Error': { marginTop: '4px', color: 'var(--colorDanger)', fontSize: 'var(--fontSizeSm)' },
  '.TermsText': { color: 'var(--colorTextSecondary)', fontSize: 'var(--fontSizeSm)' },
  '.AccordionItem': {
    padding: '16px',
    border: '1px solid #e6e6e6',
    backgroundColor: 'var(--colorBackground)',
    color: 'var(--colorTextSecondary)',
  },
  '.AccordionItem--selected': { color: 'var(--colorPrimary)' },
};

/** Only the stand-in's: the items are one box, a field fills its row, expiry and code share one. */
const layout = `
& { color: var(--colorText); font-family: var(--fontFamily); font-size: var(--fontSizeBase); font-weight: 400; }
.AccordionItem:first-child { border-radius: var(--borderRadius) var(--borderRadius) 0 0; }
.AccordionItem:last-of-type { border-radius: 0 0 var(--borderRadius) var(--borderRadius); }
.AccordionItem:only-of-type { border-radius: var(--borderRadius); }
.AccordionItem + .AccordionItem { border-top: 0; }
.choice { display: flex; gap: 12px; align-items: center; min-height: 24px; cursor: pointer; }
.choice input { flex: none; appearance: none; width: 20px; height: 20px; margin: 0; border: 1px solid
  var(--colorTextSecondary); border-radius: 50%; background: var(--colorBackground); cursor: inherit; }
.choice input:checked { border: 6px solid var(--colorPrimary); }
.fields { display: grid; grid-template-columns: repeat(2, minmax(0, 1fr));
  gap: var(--gridRowSpacing) var(--gridColumnSpacing); margin-top: 16px; font-weight: 400; }
.fields[hidden] { display: none; }
.fields > :not(.half) { grid-column: 1 / -1; }
.fields p { margin: 0; }
.Error { margin-bottom: 0; }
.Error:empty { display: none; }
`;

const toKebab = (name: string) => name.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`);

const toDeclarations = (values: Record<string, string>) =>
  Object.entries(values)
    .map(([name, value]) => `${toKebab(name)}: ${value};`)
    .join(' ');

/** A card's field is an input in the one that has the look; its states are those of the input. */
function toSelector(selector: string): string {
  if (selector.endsWith('::placeholder')) return `${selector}, ${selector.replace('::', ' ::')}`;
  return selector.endsWith(':focus') ? `${selector}, ${selector}-within` : selector;
}

const toRules = (all: NonNullable<Appearance['rules']>) =>
  Object.entries(all).map(([selector, values]) => `${toSelector(selector)} { ${toDeclarations(values)} }`);

/** The style sheet of the payment element: Stripe's own look with that of the page. */
export function toStyleSheet({ theme, variables: own, rules: ownRules = {} }: Appearance): string {
  const all = { ...variables, ...(theme === 'night' && nightVariables), ...own };
  const values = Object.entries(all).map(([name, value]) => `--${name}: ${value};`);
  return [
    `.${elementClass} {`,
    ...values,
    '--placeholder: var(--colorTextPlaceholder);',
    ...toRules(rules),
    layout,
    ...toRules(ownRules),
    '}',
  ].join('\n');
}
