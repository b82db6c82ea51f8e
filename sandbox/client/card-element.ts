import {
  type CardField,
  checkField,
  type FaultCode,
  findBrand,
  formatDigits,
  incomplete,
  toDigits,
} from './card-rules.ts';
import { textsFor } from './texts.ts';

export interface ElementFault {
  type: 'validation_error';
  code: FaultCode;
  message: string;
}

interface ElementOptions {
  placeholder?: string;
  disabled?: boolean;
  /** Only the properties under `base` are used. */
  style?: { base?: Record<string, unknown> };
}

type Handler = (event?: unknown) => void;

const autocomplete = { cardNumber: 'cc-number', cardExpiry: 'cc-exp', cardCvc: 'cc-csc' } as const;
const placeholders = { cardNumber: '1234 1234 1234 1234', cardExpiry: 'MM / YY', cardCvc: 'CVC' } as const;

/** Pseudo-elements need a style sheet. One that a script creates is allowed by every policy. */
function placeholderSheet(): CSSStyleSheet {
  const sheet = new CSSStyleSheet();
  sheet.replaceSync('.stand-in-field::placeholder { color: var(--placeholder, inherit); opacity: 1; }');
  return sheet;
}
let sheet: CSSStyleSheet | undefined;

/** The fields of one card: the number determines the length of the security code. */
export interface CardGroup {
  readonly locale: string | undefined;
  readonly fields: Map<CardField, CardElement>;
}

/**
 * One field of a card. It is an input of the page, while Stripe's own is in a frame: it has no name, so no form ever
 * sends it. Everything else is as with Stripe: classes on its container, events, codes.
 */
export class CardElement {
  readonly #type: CardField;
  readonly #group: CardGroup;
  readonly #input = document.createElement('input');
  readonly #handlers = new Map<string, Set<Handler>>();
  #options: ElementOptions;
  #container: HTMLElement | undefined;
  #digits = '';
  #fault: FaultCode | undefined;
  #lastEmitted = '';

  constructor(type: CardField, group: CardGroup, options: ElementOptions) {
    this.#type = type;
    this.#group = group;
    this.#options = options;
    const input = this.#input;
    if (sheet === undefined) {
      sheet = placeholderSheet();
      document.adoptedStyleSheets.push(sheet);
    }
    input.className = 'stand-in-field';
    input.type = 'text';
    input.inputMode = 'numeric';
    input.autocomplete = autocomplete[type];
    input.spellcheck = false;
    input.setAttribute('aria-label', textsFor(group.locale).labels[type]);
    Object.assign(input.style, {
      width: '100%',
      minHeight: '0',
      padding: '0',
      border: '0',
      outline: 'none',
      boxShadow: 'none',
      background: 'none',
      color: 'inherit',
      font: 'inherit',
      appearance: 'none',
    });
    input.addEventListener('input', () => this.#handleInput());
    input.addEventListener('focus', () => {
      this.#paint();
      this.#emit('focus', { elementType: type });
    });
    input.addEventListener('blur', () => {
      const { empty, complete } = this.#check();
      if (!empty && !complete) this.#emitChange(this.#fault ?? incomplete[type]);
      this.#paint();
      this.#emit('blur', { elementType: type });
    });
    input.addEventListener('keydown', ({ key }) => {
      if (key === 'Escape') this.#emit('escape', { elementType: type });
    });
    this.#apply();
  }

  get digits(): string {
    return this.#digits;
  }

  /** The fault that prevents its use. */
  get fault(): ElementFault | undefined {
    const { complete, fault } = this.#check();
    return complete ? undefined : this.#describe(fault ?? incomplete[this.#type]);
  }

  mount(target: string | HTMLElement): void {
    const container = typeof target === 'string' ? document.querySelector<HTMLElement>(target) : target;
    if (!container) throw new Error(`The selector you specified (${target}) applies to no DOM elements on the page.`);
    this.unmount();
    this.#container = container;
    container.replaceChildren(this.#input);
    container.classList.add('StripeElement');
    container.addEventListener('click', this.#focusInput);
    this.#paint();
    // Stripe's own is ready when its frame has loaded.
    queueMicrotask(() => this.#emit('ready', { elementType: this.#type }));
  }

  unmount(): void {
    const container = this.#container;
    if (!container) return;
    this.#input.remove();
    container.removeEventListener('click', this.#focusInput);
    container.classList.remove(
      'StripeElement',
      ...['empty', 'complete', 'invalid', 'focus'].map((name) => `StripeElement--${name}`),
    );
    this.#container = undefined;
  }

  destroy(): void {
    this.unmount();
    this.#handlers.clear();
    this.#group.fields.delete(this.#type);
  }

  on(event: string, handler: Handler): this {
    const handlers = this.#handlers.get(event) ?? new Set();
    this.#handlers.set(event, handlers.add(handler));
    return this;
  }

  once(event: string, handler: Handler): this {
    const once: Handler = (value) => {
      this.off(event, once);
      handler(value);
    };
    return this.on(event, once);
  }

  off(event: string, handler?: Handler): this {
    if (handler) this.#handlers.get(event)?.delete(handler);
    else this.#handlers.delete(event);
    return this;
  }

  update(options: ElementOptions): void {
    this.#options = { ...this.#options, ...options };
    this.#apply();
  }

  focus(): void {
    this.#input.focus();
  }

  blur(): void {
    this.#input.blur();
  }

  clear(): void {
    this.#input.value = '';
    this.#handleInput();
  }

  /** The number has changed, and possibly the length of the security code. */
  checkAgain(): void {
    this.#emitChange(this.#check().fault);
    this.#paint();
  }

  #focusInput = () => this.#input.focus();

  #number(): string {
    return this.#type === 'cardNumber' ? this.#digits : (this.#group.fields.get('cardNumber')?.digits ?? '');
  }

  #check() {
    return checkField(this.#type, { digits: this.#digits, number: this.#number(), today: new Date() });
  }

  #describe(code: FaultCode): ElementFault {
    return { type: 'validation_error', code, message: textsFor(this.#group.locale).faults[code] };
  }

  #handleInput(): void {
    const input = this.#input;
    const before = input.value.slice(0, input.selectionEnd ?? undefined).replace(/\D/g, '').length;
    const atEnd = (input.selectionEnd ?? 0) >= input.value.length;
    this.#digits = toDigits(this.#type, input.value, this.#number());
    input.value = formatDigits(this.#type, this.#digits);
    if (!atEnd) {
      let at = 0;
      for (let passed = 0; passed < before && at < input.value.length; at += 1) {
        if (/\d/.test(input.value[at] ?? '')) passed += 1;
      }
      input.setSelectionRange(at, at);
    }
    this.#emitChange(this.#check().fault);
    this.#paint();
    if (this.#type === 'cardNumber') this.#group.fields.get('cardCvc')?.checkAgain();
  }

  /** Fires `change` if anything has changed. */
  #emitChange(fault: FaultCode | undefined): void {
    this.#fault = fault;
    const { empty, complete } = this.#check();
    const event = {
      elementType: this.#type,
      empty,
      complete,
      error: fault === undefined ? undefined : this.#describe(fault),
      ...(this.#type === 'cardNumber' && { brand: findBrand(this.#digits) }),
    };
    const serialized = JSON.stringify(event);
    // An untouched field never had an event.
    if (serialized === this.#lastEmitted || (this.#lastEmitted === '' && empty)) return;
    this.#lastEmitted = serialized;
    this.#emit('change', event);
  }

  #paint(): void {
    const { empty, complete } = this.#check();
    const states = {
      empty,
      complete,
      invalid: this.#fault !== undefined,
      focus: document.activeElement === this.#input,
    };
    for (const [name, is] of Object.entries(states)) this.#container?.classList.toggle(`StripeElement--${name}`, is);
    this.#input.setAttribute('aria-invalid', String(this.#fault !== undefined));
  }

  #apply(): void {
    const { placeholder = placeholders[this.#type], disabled = false, style } = this.#options;
    this.#input.placeholder = placeholder;
    this.#input.disabled = disabled;
    const plain = Object.entries(style?.base ?? {}).filter(([, value]) => typeof value === 'string');
    Object.assign(this.#input.style, Object.fromEntries(plain));
    const { color } = (style?.base?.['::placeholder'] ?? {}) as { color?: string };
    if (color !== undefined) this.#input.style.setProperty('--placeholder', color);
  }

  #emit(name: string, event: unknown): void {
    for (const handler of this.#handlers.get(name) ?? []) handler(event);
  }
}
