import { languages, texts } from '../../../locales/index.ts';
import { refusalText } from '../../../server/billing/index.ts';
import { toDecline } from '../../../server/billing/stripe/stripe-objects.ts';
import { translator } from '../../../server/http/index.ts';
import { cards, confirmCard, islandProps, readCardForm, saveCardAt } from './card-steps.ts';
import { openShop, type Shop, wordsOf } from './shop.ts';

const path = '/plan-purchase/10/addPayment';
const setup = `${path}/setup`;

describe('the payment page', () => {
  let shop: Shop;
  beforeAll(async () => {
    shop = await openShop();
  });
  afterAll(() => shop?.close());

  async function visitor() {
    const user = await shop.foyer.addUser();
    return { user, browser: await shop.foyer.signedIn(user) };
  }
  const openSetup = async (browser: Awaited<ReturnType<typeof visitor>>['browser']) => {
    const answer = await browser.postJson(setup, {});
    expect(answer.status).toBe(200);
    return ((await answer.json()) as { clientSecret: string }).clientSecret;
  };
  const paidCents = async () => (await shop.paidInvoices()).map(({ amount_paid }) => amount_paid);

  it('The payment page names the amount due and asks for a card in fields of Stripe', async () => {
    const { browser } = await visitor();
    const html = await (await browser.get(path)).text();
    expect(wordsOf(html)).toMatch(
      /Pay for Starter .*Due today \$99\.00.* Payment method .*Name on card .*Card number .*Zip\/postal code/,
    );
    // The total says it.
    expect(wordsOf(html)).not.toContain('You pay');
    expect(html.match(/<input[^>]* name="([^"]+)"/g)?.map((input) => / name="([^"]+)"/.exec(input)?.[1])).toEqual(
      expect.arrayContaining(['planId', 'dueCents', 'act', 'setupIntent', 'name', 'zip']),
    );
    expect(html).not.toMatch(/name="(?:number|cvc|expiry)"/);
    const fields = { planId: '10', dueCents: '9900', laterCents: '9900', act: 'save-card' };
    expect(readCardForm(html)).toMatchObject({ action: path, fields });
    expect(islandProps(html, 'card-form')).toMatchObject({
      publishableKey: 'pk_test_of_the_stand_in',
      stripeJsUrl: `${shop.standIn.url}/stripe.js`,
      setupUrl: setup,
      locale: 'en',
    });
  });

  it('Only the payment page may load from Stripe, and every other page keeps its strict policy', async () => {
    const { browser } = await visitor();
    const policyOf = async (address: string) => (await browser.get(address)).headers.get('content-security-policy');
    const policy = await policyOf(path);
    for (const directive of ['script-src', 'frame-src', 'connect-src']) {
      expect(policy).toMatch(new RegExp(`${directive}[^;]* ${shop.standIn.url}(;| |$)`));
    }
    for (const address of ['/plan-purchase/10', '/plan-purchase', '/settings']) {
      expect(await policyOf(address)).not.toContain(shop.standIn.url);
    }
  });

  it('Saving a card pays with it in one step, and a second press charges nothing', async () => {
    const { user, browser } = await visitor();
    const before = (await paidCents()).length;
    const clientSecret = await openSetup(browser);
    const form = {
      act: 'save-card',
      planId: '10',
      dueCents: '9900',
      laterCents: '9900',
      setupIntent: confirmCard(shop, clientSecret, cards.visa),
    };
    const answers = await Promise.all([browser.post(path, form), browser.post(path, form)]);
    for (const answer of answers) {
      expect([answer.status, answer.headers.get('location')]).toEqual([303, '/signup/completed/m-99']);
    }
    expect(await shop.planOf(user)).toBe('10');
    expect((await paidCents()).length).toBe(before + 1);
    expect((await shop.foyer.app.membership.getMembership(user.id))?.card).toMatchObject({
      brand: 'visa',
      lastFour: '4242',
    });
  });

  it('A payment charges nothing when another amount is due than the page named, and keeps the card', async () => {
    const { user, browser } = await visitor();
    const answer = await saveCardAt(shop, browser, path, cards.visa, { dueCents: '100' });
    expect(answer.status).toBe(409);
    const html = await answer.text();
    expect(wordsOf(html)).toMatch(/\$99\.00.*Visa •••• 4242/);
    expect(readCardForm(html)).toMatchObject({ fields: { dueCents: '9900' } });
    expect(await shop.planOf(user)).toBeNull();
  });

  it('The payment page accepts no card that Stripe has not accepted and no card of another member', async () => {
    const { user, browser } = await visitor();
    const other = await visitor();
    const [own, foreign] = [await openSetup(browser), await openSetup(other.browser)];
    const post = (setupIntent: string) =>
      browser.post(path, { act: 'save-card', planId: '10', dueCents: '9900', laterCents: '9900', setupIntent });
    const setupIntents = [own.split('_secret_')[0] ?? '', confirmCard(shop, foreign, cards.visa), '', 'pm_card_visa'];
    for (const setupIntent of setupIntents) {
      const answer = await post(setupIntent);
      expect(answer.status).toBe(400);
      expect(wordsOf(await answer.text())).toContain('This card couldn’t be saved. Please enter it again.');
    }
    expect(await shop.planOf(user)).toBeNull();
  });

  it.each([
    [{ code: 'card_declined', decline_code: 'insufficient_funds' }, 'funds'],
    [{ code: 'card_declined', decline_code: 'stolen_card' }, 'declined'],
    [{ code: 'expired_card' }, 'expired'],
    [{ code: 'incorrect_cvc', decline_code: 'incorrect_cvc' }, 'code'],
    [{ code: 'card_declined', decline_code: 'card_not_supported' }, 'unsupported'],
    [{ code: 'payment_intent_authentication_failure' }, 'notAuthenticated'],
    [{ code: 'card_declined', decline_code: 'try_again_later' }, 'processing'],
    [{ code: 'card_declined', payment_method: { type: 'sepa_debit' } }, 'debit'],
    [{ code: 'payment_method_provider_timeout' }, undefined],
  ] as const)('A refusal is known by Stripe’s code %j, whatever words Stripe says it in', (error, reason) => {
    const message = 'In other words than yesterday.';
    expect(toDecline({ ...error, message })).toEqual({ message, reason });
    for (const lang of languages) {
      const spoken = refusalText({ lang, t: translator(lang) }, toDecline({ ...error, message }));
      const unknown = lang === 'en' ? message : texts[lang].payment.refused.other;
      expect(spoken).toBe(reason === undefined ? unknown : texts[lang].payment.refused[reason]);
    }
  });

  it('A refusal without any words is said in words of Foyer', () => {
    for (const lang of languages) {
      expect(refusalText({ lang, t: translator(lang) }, toDecline(null))).toBe(texts[lang].payment.refused.other);
    }
  });

  it.each(languages)(
    'The script of the payment page is given the texts of refusals by Stripe’s codes (%s)',
    async (lang) => {
      const { browser } = await visitor();
      const html = await (await browser.get(path, { headers: { 'accept-language': lang } })).text();
      const { refused } = texts[lang].payment;
      expect(islandProps(html, 'card-form').faults).toMatchObject({
        card_declined: refused.declined,
        insufficient_funds: refused.funds,
        expired_card: refused.expired,
        incorrect_cvc: refused.code,
        processing_error: refused.processing,
        setup_intent_authentication_failure: refused.notAuthenticated,
        payment_intent_authentication_failure: refused.notAuthenticated,
      });
    },
  );

  it('The button of the saved card names that card, and the form of another one the amount alone', async () => {
    const { user, browser } = await visitor();
    await shop.saveCard(user);
    const html = await (await browser.get(path)).text();
    const buttons = [...html.matchAll(/<button[^>]*>([^<]*\$99\.00[^<]*)<\/button>/g)].map(([, words]) => words);
    expect(buttons).toEqual(['Pay $99.00', 'Pay $99.00 with the new card']);
  });

  it('A declined card shows the provider’s reason, and another card is accepted', async () => {
    const { user, browser } = await visitor();
    const declined = await saveCardAt(shop, browser, path, cards.chargeDeclined);
    expect(declined.status).toBe(402);
    const html = await declined.text();
    expect(wordsOf(html)).toMatch(
      /Your card was declined\. Try another card or ask your bank\..*Visa •••• 0341.*Another card/,
    );
    // In the language of the page, though Stripe says it in English.
    const german = await browser.post(
      path,
      { planId: '10', dueCents: '9900', laterCents: '9900' },
      { 'accept-language': 'de' },
    );
    expect(wordsOf(await german.text())).toContain(
      'Ihre Karte wurde abgelehnt. Verwenden Sie eine andere Karte oder fragen Sie Ihre Bank.',
    );
    expect(await shop.planOf(user)).toBeNull();
    const again = await browser.post(path, { planId: '10', dueCents: '9900', laterCents: '9900' });
    expect(again.status).toBe(402);
    const paid = await saveCardAt(shop, browser, path, cards.mastercard);
    expect([paid.status, paid.headers.get('location')]).toEqual([303, '/signup/completed/m-99']);
    expect(await shop.planOf(user)).toBe('10');
  });

  describe('a payment that needs bank authentication', () => {
    async function asked() {
      const { user, browser } = await visitor();
      const answer = await saveCardAt(shop, browser, path, cards.asksAlways);
      expect(answer.status).toBe(200);
      const html = await answer.text();
      const props = islandProps(html, 'payment-action') as {
        clientSecret: string;
        action: string;
        retryFields: Record<string, string>;
      };
      return { user, browser, html, props, intent: props.clientSecret.split('_secret_')[0] ?? '' };
    }

    it('The page gives its script the values for bank authentication, and links to Stripe’s page without scripts', async () => {
      const { html, props, browser } = await asked();
      expect(wordsOf(html)).toMatch(/Confirm with your bank Your bank needs you to confirm \$99\.00/);
      expect(props).toMatchObject({
        clientSecret: expect.stringMatching(/^pi_\w+_secret_/),
        paymentMethodId: expect.stringMatching(/^pm_/),
        action: path,
      });
      const hosted = /<a [^>]*href="([^"]*)"[^>]*>Pay on Stripe/.exec(html)?.[1];
      expect(hosted).toMatch(new RegExp(`^${shop.standIn.url}/`));
      // Not answered yet: it is asked again, nothing is lost.
      const early = await browser.post(path, { act: 'outcome' });
      expect(islandProps(await early.text(), 'payment-action').clientSecret).toBe(props.clientSecret);
    });

    it('A payment completes after the bank authenticates it', async () => {
      const { user, browser, intent } = await asked();
      shop.standIn.engine.authenticate(intent, 'succeed');
      const answer = await browser.post(path, { act: 'outcome' });
      expect([answer.status, answer.headers.get('location')]).toEqual([303, '/signup/completed/m-99']);
      expect(await shop.planOf(user)).toBe('10');
    });

    it('A payment that the bank refuses shows the reason and can be tried again', async () => {
      const { user, browser, intent, props } = await asked();
      shop.standIn.engine.authenticate(intent, 'fail');
      const failed = await browser.post(path, { act: 'outcome' });
      expect(failed.status).toBe(402);
      expect(wordsOf(await failed.text())).toMatch(/unable to authenticate.*Visa •••• 3184/);
      expect(await shop.planOf(user)).toBeNull();
      const again = await browser.post(props.action, props.retryFields);
      const { clientSecret } = islandProps(await again.text(), 'payment-action') as { clientSecret: string };
      shop.standIn.engine.authenticate(clientSecret.split('_secret_')[0] ?? '', 'succeed');
      expect((await browser.post(path, { act: 'outcome' })).status).toBe(303);
      expect(await shop.planOf(user)).toBe('10');
    });
  });

  it('The payment page keeps the submitted values while Stripe is away, with the message of that action', async () => {
    const { user, browser } = await visitor();
    const setupIntent = confirmCard(shop, await openSetup(browser), cards.visa);
    shop.standIn.fault('unreachable', (_method, asked) => asked.startsWith('/v1/setup_intents/'));
    const sent = { act: 'save-card', planId: '10', dueCents: '9900', laterCents: '9900', setupIntent };
    const answer = await browser.post(path, sent);
    expect([answer.status, answer.headers.get('retry-after')]).toEqual([503, expect.stringMatching(/^\d+$/)]);
    const html = await answer.text();
    expect(wordsOf(html)).toContain('Stripe customer updation error!');
    const fields = [...html.matchAll(/<input type="hidden" name="([^"]*)" value="([^"]*)"/g)];
    expect(Object.fromEntries(fields.map(([, name, value]) => [name, value]))).toMatchObject(sent);
    expect((await browser.post(path, sent)).status).toBe(303);
    expect(await shop.planOf(user)).toBe('10');
  });

  it('The setup call answers its script with 503 while Stripe is away', async () => {
    const { user, browser } = await visitor();
    await shop.customerOf(user);
    shop.standIn.fault('unreachable', (_method, asked) => asked === '/v1/setup_intents');
    const answer = await browser.postJson(setup, {});
    expect([answer.status, await answer.json()]).toEqual([503, { message: 'Stripe customer updation error!' }]);
  });

  it('Every try of a card counts against the rate limit', async () => {
    const { browser } = await visitor();
    await browser.get(path);
    let answer = await browser.postJson(setup, {});
    for (let tries = 1; answer.status === 200 && tries < 30; tries += 1) answer = await browser.postJson(setup, {});
    expect([answer.status, answer.headers.get('retry-after')]).toEqual([429, expect.stringMatching(/^\d+$/)]);
    const { message } = (await answer.json()) as { message: string };
    expect(message).toMatch(/^Too many (attempts|tries)/);
  });

  it('The payment page is only for members, on this site, with a plan to pay', async () => {
    const stranger = shop.foyer.browser();
    for (const answer of [await stranger.get(path), await stranger.postJson(setup, {})]) {
      expect([answer.status, answer.headers.get('location')]).toEqual([303, expect.stringMatching(/^\/\?/)]);
    }
    const { browser } = await visitor();
    const elsewhere = { origin: 'https://elsewhere.example', 'sec-fetch-site': 'cross-site' };
    expect((await browser.postJson(setup, {}, elsewhere)).status).toBe(403);
    expect((await browser.post(path, { act: 'outcome' }, elsewhere)).status).toBe(403);
    expect((await browser.post(path, { act: 'steal' })).status).toBe(400);
    const free = shop.foyer.app.membership.catalogue.plans.find(({ kind }) => kind === 'free');
    const atFree = await browser.get(`/plan-purchase/${free?.id}/addPayment`);
    expect([atFree.status, atFree.headers.get('location')]).toEqual([303, `/plan-purchase/${free?.id}`]);
  });
});
