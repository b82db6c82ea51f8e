import { type Appearance, elementClass, toStyleSheet } from './appearance.ts';
import { CardElement, type CardGroup } from './card-element.ts';
import { type CardField, cardFields } from './card-rules.ts';
import { textsFor } from './texts.ts';

export interface ElementsOptions {
  locale?: string | undefined;
  allowedPaymentMethodTypes?: string[];
  appearance?: Appearance;
}

const shownTypes = ['card', 'link', 'sepa_debit', 'ideal', 'bancontact'] as const;
type ShownType = (typeof shownTypes)[number];

/** The same in every language. */
const brands = { link: 'Link', ideal: 'iDEAL', bancontact: 'Bancontact' };

/** The fields of each method besides a card's. */
const textFields = {
  card: [],
  link: ['email'],
  sepa_debit: ['iban', 'name', 'email'],
  ideal: ['name', 'email'],
  bancontact: ['name', 'email'],
} as const satisfies Record<ShownType, readonly string[]>;
type TextField = 'iban' | 'name' | 'email';

/** The parameter `payment_method_data` of a confirmation. */
type PaymentMethodData = Record<string, unknown>;

/** Stripe's event has more; of it, the chosen method. */
type Handler = (event: { value: { type: string } }) => void;

/** One method: its choice and its fields. */
interface Section {
  type: ShownType;
  item: HTMLElement;
  radio: HTMLInputElement;
  body: HTMLElement;
  inputs: Partial<Record<TextField, HTMLInputElement>>;
}

const create = <K extends keyof HTMLElementTagNameMap>(tag: K, className: string, textContent = '') =>
  Object.assign(document.createElement(tag), { className, textContent });

function fieldWith(label: string, control: HTMLElement): HTMLElement {
  const frame = create('label', '');
  control.classList.add('Input');
  frame.append(create('span', 'Label', label), control);
  return frame;
}

/**
 * Stripe's payment element: a choice of methods, each with its fields. Its inputs have no names, so that no form ever
 * sends them. Wallets are not shown: no browser here has one.
 */
export class PaymentElement {
  readonly #handlers = new Map<string, Set<Handler>>();
  readonly #box = create('div', elementClass);
  readonly #fault = create('p', 'Error');
  // One that a script creates is allowed by every policy.
  readonly #sheet = new CSSStyleSheet();
  readonly #sections: Section[];
  readonly #group: CardGroup;
  readonly #locale: string | undefined;

  constructor({ locale, allowedPaymentMethodTypes = ['card'], appearance }: ElementsOptions, group: CardGroup) {
    this.#group = group;
    this.#locale = locale;
    this.#fault.setAttribute('role', 'alert');
    const types = shownTypes.filter((type) => allowedPaymentMethodTypes.includes(type));
    this.#sections = types.map((type, index) => this.#createSection(type, index === 0));
    this.#box.append(...this.#sections.map(({ item }) => item), this.#fault);
    document.adoptedStyleSheets.push(this.#sheet);
    this.dress(appearance);
    this.#show();
  }

  /** Shows another look. */
  dress(appearance: Appearance = {}): void {
    this.#sheet.replaceSync(toStyleSheet(appearance));
  }

  on(event: string, handler: Handler): this {
    const handlers = this.#handlers.get(event) ?? new Set();
    this.#handlers.set(event, handlers.add(handler));
    return this;
  }

  mount(target: string | HTMLElement): void {
    const container = typeof target === 'string' ? document.querySelector<HTMLElement>(target) : target;
    if (!container) throw new Error(`The selector you specified (${target}) applies to no DOM elements on the page.`);
    container.replaceChildren(this.#box);
    queueMicrotask(() => {
      this.#emit('ready');
      this.#emit('change');
    });
  }

  #emit(event: 'ready' | 'change'): void {
    const { type } = this.#chosen();
    for (const handler of this.#handlers.get(event) ?? []) handler({ value: { type } });
  }

  /** The first fault of the chosen method, which it then shows. */
  check(): { type: string; message: string } | undefined {
    const { type, inputs } = this.#chosen();
    const cardFault = type === 'card' ? cardFields.map((name) => this.#group.fields.get(name)?.fault) : [];
    const isEmpty = Object.values(inputs).some((input) => input.value.trim() === '');
    const { incomplete } = textsFor(this.#locale).payment;
    const empty = { type: 'validation_error', message: incomplete };
    const fault = cardFault.find((one) => one !== undefined) ?? (isEmpty ? empty : undefined);
    this.#fault.textContent = fault?.message ?? '';
    return fault;
  }

  data(): PaymentMethodData {
    const { type, inputs } = this.#chosen();
    const typed = (name: TextField) => inputs[name]?.value.trim();
    const billing_details = { name: typed('name'), email: typed('email') };
    if (type === 'card') {
      const [number, expiry = '', cvc] = cardFields.map((name) => this.#group.fields.get(name)?.digits);
      const exp = { exp_month: Number(expiry.slice(0, 2)), exp_year: 2000 + Number(expiry.slice(2)) };
      return { type, card: { number, cvc, ...exp } };
    }
    return { type, billing_details, ...(type === 'sepa_debit' && { sepa_debit: { iban: typed('iban') } }) };
  }

  #chosen(): Section {
    const chosen = this.#sections.find(({ radio }) => radio.checked) ?? this.#sections[0];
    if (!chosen) throw new Error('None of the allowed payment methods is known to the stand-in.');
    return chosen;
  }

  #show(): void {
    for (const { item, radio, body } of this.#sections) {
      body.hidden = !radio.checked;
      item.classList.toggle('AccordionItem--selected', radio.checked);
    }
    this.#fault.textContent = '';
  }

  #createSection(type: ShownType, isFirst: boolean): Section {
    const radio = document.createElement('input');
    radio.type = 'radio';
    // Only within the element: without a name the browser would not group them, and a form must not send it.
    radio.checked = isFirst;
    radio.addEventListener('change', () => {
      for (const other of this.#sections) other.radio.checked = other.radio === radio;
      this.#show();
      this.#emit('change');
    });
    const choice = create('label', 'choice');
    choice.append(radio, { ...brands, ...textsFor(this.#locale).payment.methods }[type]);
    const body = create('div', 'fields');
    const inputs = type === 'card' ? this.#addCard(body) : this.#addFields(body, textFields[type]);
    const note = textsFor(this.#locale).payment.notes[type];
    if (note !== undefined) body.append(create('p', 'TermsText', note));
    const item = create('div', 'AccordionItem');
    item.append(choice, body);
    return { type, item, radio, body, inputs };
  }

  #addCard(body: HTMLElement): Section['inputs'] {
    const { labels } = textsFor(this.#locale).payment;
    for (const name of cardFields) {
      const element = new CardElement(name, this.#group, {});
      this.#group.fields.set(name, element);
      const frame = document.createElement('div');
      const field = fieldWith(labels[name], frame);
      if (name !== 'cardNumber') field.className = 'half';
      body.append(field);
      element.mount(frame);
    }
    return {};
  }

  #addFields(body: HTMLElement, fields: readonly TextField[]): Section['inputs'] {
    const { labels } = textsFor(this.#locale).payment;
    return Object.fromEntries(
      fields.map((name) => {
        const input = document.createElement('input');
        input.type = name === 'email' ? 'email' : 'text';
        input.autocomplete = name === 'iban' ? 'off' : name;
        body.append(fieldWith(labels[name], input));
        return [name, input];
      }),
    );
  }
}

export const isCardField = (type: string): type is CardField => cardFields.some((name) => name === type);
