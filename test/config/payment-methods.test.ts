import { findMethodFaults } from '../../config/checks.ts';
import { loadConfig } from '../../config/load.ts';

const environment = { NODE_ENV: 'test', SECRET_KEY: 'k'.repeat(32), SEARCH_APP_URL: 'https://s.example' };
const methodsOf = (PAYMENT_METHODS: string) => loadConfig({ ...environment, PAYMENT_METHODS }).PAYMENT_METHODS;

describe('PAYMENT_METHODS', () => {
  it('Members pay by card alone unless the operator names other methods', () => {
    expect(loadConfig(environment).PAYMENT_METHODS).toEqual(['card']);
  });

  it('Words are separated by commas, with or without spaces, and count once', () => {
    expect(methodsOf('card, link,card,sepa_debit')).toEqual(['card', 'link', 'sepa_debit']);
  });

  it.each(['paypal', 'card,cash', 'Card', ','])('The unknown words of %s are refused at start', (value) => {
    expect(() => methodsOf(value)).toThrow(/PAYMENT_METHODS: write some of card, link, apple_pay, google_pay/);
  });

  it('A wallet without cards is refused at start', () => {
    expect(() => methodsOf('apple_pay,link')).toThrow('apple_pay and google_pay are cards in a wallet; write card too');
  });

  it('Methods that Stripe collects in euros alone are refused with a catalogue in dollars', () => {
    expect(findMethodFaults(['card', 'sepa_debit', 'ideal'], 'usd')).toEqual([
      'PAYMENT_METHODS: sepa_debit needs a catalogue in eur; that of PLANS_FILE is in usd',
      'PAYMENT_METHODS: ideal needs a catalogue in eur; that of PLANS_FILE is in usd',
    ]);
    expect(findMethodFaults(['card', 'sepa_debit', 'ideal'], 'eur')).toEqual([]);
    expect(findMethodFaults(['card', 'link', 'apple_pay'], 'usd')).toEqual([]);
  });
});
