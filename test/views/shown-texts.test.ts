import { readFileSync } from 'node:fs';
import { translator } from '../../server/http/language.ts';
import { renderDocument } from '../../server/http/render.tsx';
import { everyPage } from './every-page.tsx';
import { visible } from './raw-keys.ts';
import { contextFor } from './samples/context.ts';
import { specificationTexts } from './specification-texts.ts';

/** Texts that the server gives to a page or to an answer: a test that requests it and expects the text. */
const requested: Partial<Record<(typeof specificationTexts)[number][0], string>> = {
  'signIn.errors.userDoesNotExist': 'sign-up/taken-address',
  'signIn.errors.disabled': 'password/forgot',
  'signUp.errors.alreadyInUse': 'sign-up/taken-address',
  'password.request.unknown': 'password/forgot',
  'password.reset.resendFailed': 'password/forgot',
  'password.reset.codeEmpty': 'password/forgot',
  'password.reset.passwordEmpty': 'password/forgot',
  'password.reset.confirmEmpty': 'password/forgot',
  'password.reset.mismatch': 'password/forgot',
  'checkout.promo.unknown': 'billing/checkout/sign-up',
  'checkout.promo.minimum': 'billing/checkout/sign-up',
  'checkout.unavailable.quote': 'billing/api-payments',
};

it('Each text of the specification is read on a page, or a test requests the page or the answer that has it', () => {
  const ctx = contextFor('en');
  const pages = Object.values(everyPage(ctx))
    .map(({ page, head }) => visible(renderDocument(ctx, page, { title: '', ...head })))
    .join('\n')
    .replaceAll('&amp;', '&');
  const known = specificationTexts.map(([key]) => ({ key, text: translator('en')(key) }));
  const unread = known.filter(({ text }) => !pages.includes(text));
  expect(unread.map(({ key }) => key).sort()).toEqual(Object.keys(requested).sort());
  const isExpected = ({ key, text }: (typeof known)[number]) =>
    readFileSync(`test/${requested[key]}.test.ts`, 'utf8').includes(text.replace('{{amount}}', '$'));
  expect(unread.filter((one) => !isExpected(one)).map(({ key }) => key)).toEqual([]);
});
