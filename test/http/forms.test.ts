import { createElement } from 'react';
import { renderToStaticMarkup } from 'react-dom/server';
import { changeEmailAction, changePhoneAction } from '../../server/account/contact/contact-actions.ts';
import { type Form, readTexts, toControls, translator } from '../../server/http/index.ts';
import { forgotPasswordAction } from '../../server/password/password-texts.ts';
import { resetForm } from '../../server/password/reset-password-handlers.ts';
import { signInForm } from '../../server/sign-in/sign-in-texts.ts';
import { profileForm } from '../../server/sign-up/profile-input.ts';
import { nameForm, userDataForm } from '../../server/users/index.ts';
import { ask, resetPath } from '../password/steps.ts';
import type { Browser } from '../support/browser.ts';
import { password, startFoyer, type TestFoyer } from '../support/foyer.ts';
import { anyBackend } from '../support/stores.ts';

interface TypedField {
  /** An accepted value. */
  good: string;
  /** The form is refused without it. */
  required?: boolean;
  /** Longer than the field accepts. */
  long?: string;
  /** It never returns to the page. */
  secret?: boolean;
}

interface TypedForm {
  path: string;
  signedIn: boolean;
  fields: Record<string, TypedField>;
}

/** The texts of the user data, with their limits. */
const userTexts: [string, TypedField][] = Object.values(userDataForm).flatMap(({ name, html: { maxLength } }) =>
  maxLength === undefined ? [] : [[name, { good: `My ${name}`, long: 'x'.repeat(maxLength + 1) }]],
);

const control = 'a\u0007b';
const forms: TypedForm[] = [
  {
    path: '/settings/name',
    signedIn: true,
    fields: {
      given_name: { good: 'Wilhelmina', required: true, long: 'x'.repeat(101) },
      family_name: { good: 'Oosterhuis', required: true, long: 'y'.repeat(101) },
    },
  },
  {
    path: '/settings/profile',
    signedIn: true,
    fields: {
      ...Object.fromEntries(userTexts),
      birthdate: { good: '1984-02-29', long: '1984-02-29-1984' },
      gender: { good: '1', required: true, long: '11' },
      address: { good: 'Oudegracht 245', long: 'x'.repeat(501) },
      company: { good: 'Lindqvist', long: 'x'.repeat(201) },
      job_title: { good: 'Restorer', long: 'x'.repeat(201) },
      preferred_username: { good: 'vera.fyfe', long: 'x'.repeat(31) },
      website: { good: 'https://vera.example/', long: `https://vera.example/${'x'.repeat(200)}` },
      profile: { good: 'https://vera.example/me', long: `https://vera.example/${'x'.repeat(200)}` },
      locale: { good: 'nl', long: 'nll' },
      zoneinfo: { good: 'Europe/Berlin', long: 'Europe/Berlinn' },
    },
  },
  {
    path: '/settings/email',
    signedIn: true,
    fields: { email: { good: 'another@example.net', required: true, long: `${'x'.repeat(250)}@example.net` } },
  },
  {
    path: '/settings/phone',
    signedIn: true,
    fields: { phone_number: { good: '+4915112345678', required: true, long: `+${'4'.repeat(60)}` } },
  },
  {
    path: '/settings/password',
    signedIn: true,
    fields: {
      old_password: { good: password, required: true, secret: true },
      new_password: { good: 'plenty of horses 7', required: true, long: 'x1'.repeat(1_000), secret: true },
    },
  },
  {
    path: '/sign-in',
    signedIn: false,
    fields: {
      username: { good: 'wilhelmina@example.net', required: true, long: 'x'.repeat(255) },
      password: { good: 'plenty of horses 7', required: true, long: 'x1'.repeat(129), secret: true },
    },
  },
  {
    path: '/forgot-password',
    signedIn: false,
    fields: { username: { good: 'wilhelmina@example.net', required: true, long: 'x'.repeat(255) } },
  },
  {
    path: '/signup',
    signedIn: false,
    fields: {
      given_name: { good: 'Wilhelmina', required: true, long: 'x'.repeat(101) },
      family_name: { good: 'Oosterhuis', required: true, long: 'y'.repeat(101) },
      email: { good: 'wilhelmina@example.net', required: true, long: `${'x'.repeat(250)}@example.net` },
      password: { good: 'plenty of horses 7', required: true, long: 'x1'.repeat(1_000), secret: true },
    },
  },
];

const faults = forms.flatMap((form) =>
  Object.entries(form.fields).flatMap(([name, field]) => [
    ...(field.required ? [{ form, name, fault: 'missing', values: [] as string[] }] : []),
    { form, name, fault: 'repeated', values: [field.good, field.good] },
    ...(field.long === undefined ? [] : [{ form, name, fault: 'too long', values: [field.long] }]),
    { form, name, fault: 'with a control character', values: [control] },
  ]),
);

describe('a form with one wrong field', () => {
  let foyer: TestFoyer;
  let browser: Browser;
  beforeAll(async () => {
    foyer = await startFoyer(anyBackend, {
      SIGN_UP_LIMIT_ADDRESS: '1000',
      PROFILE_FIELDS: 'nickname,middle_name,website,profile',
    });
  });
  beforeEach(async () => {
    browser = await foyer.signedIn(await foyer.addUser());
  });
  afterAll(() => foyer?.close());

  it.each(faults.map((one) => ({ ...one, path: one.form.path })))(
    'A form of $path whose field $name is $fault gets 400 and keeps the other values, but no secret',
    async ({ form, name, fault, values }) => {
      const visitor = form.signedIn ? browser : foyer.browser();
      const others = Object.entries(form.fields).filter(([other]) => other !== name);
      const body = new URLSearchParams([
        ...others.map(([other, { good }]) => [other, good]),
        ...values.map((value) => [name, value]),
      ]).toString();
      const refused = await visitor.submitText(form.path, body);
      expect(refused.status).toBe(400);
      const html = await refused.text();
      for (const [, { good, secret }] of Object.entries(form.fields)) if (secret) expect(html).not.toContain(good);
      // A browser's own form never sends a field twice: the answer is the error page.
      if (fault === 'repeated') return;
      for (const [, { good, secret }] of others) if (!secret) expect(html).toContain(good);
    },
  );
});

/** A form with the page that shows it. */
interface DefinedForm {
  name: string;
  form: Form;
  /** Its page. */
  open(foyer: TestFoyer): Promise<Response>;
  /** The longest text of each field, if its reader limits it. */
  longest?: Record<string, number>;
  /** The attributes that the page replaces. */
  replaced?: Record<string, Record<string, string>>;
}

const openSignedIn = (path: string) => async (foyer: TestFoyer) =>
  (await foyer.signedIn(await foyer.addUser())).get(path);

async function openReset(foyer: TestFoyer) {
  const [browser, { email }] = [foyer.browser(), await foyer.addUser()];
  await ask(browser, email);
  return browser.get(resetPath(email));
}

const definedForms: DefinedForm[] = [
  {
    name: 'sign-in',
    form: signInForm,
    open: (foyer) => foyer.browser().get('/'),
    longest: { username: 254, password: 256 },
    replaced: { username: { autoComplete: 'username webauthn' } },
  },
  {
    name: 'forgotten password',
    form: forgotPasswordAction.form,
    open: (foyer) => foyer.browser().get('/forgot-password'),
  },
  {
    name: 'new password',
    form: resetForm(false),
    open: openReset,
  },
  {
    name: 'sign-up',
    form: profileForm,
    open: (foyer) => foyer.browser().get('/signup'),
    longest: { givenName: 100, familyName: 100 },
  },
  {
    name: 'name',
    form: nameForm,
    open: openSignedIn('/settings/name'),
    longest: { givenName: 100, familyName: 100 },
  },
  { name: 'user data', form: userDataForm, open: openSignedIn('/settings/profile') },
  { name: 'e-mail address', form: changeEmailAction.form, open: openSignedIn('/settings/email') },
  { name: 'phone number', form: changePhoneAction.form, open: openSignedIn('/settings/phone') },
];

/** The attributes of the first control of this name. */
function attributesOf(html: string, name: string): Record<string, string> {
  const [control = ''] = [...html.matchAll(/<(?:input|select|textarea)[^>]*>/g)]
    .map(([tag]) => tag)
    .filter((tag) => tag.includes(` name="${name}"`));
  return Object.fromEntries(
    [...control.matchAll(/ ([a-z-]+)="([^"]*)"/gi)].map(([, key = '', value = '']) => [key.toLowerCase(), value]),
  );
}

const t = translator('en');

describe('the definition of a form', () => {
  let foyer: TestFoyer;
  beforeAll(async () => {
    foyer = await startFoyer(anyBackend, { PROFILE_FIELDS: 'nickname,middle_name,website,profile' });
  });
  afterAll(() => foyer?.close());

  it.each(definedForms)(
    'The controls of the form $name have the attributes of its definition',
    async ({ form, open, replaced = {} }) => {
      const html = await (await open(foyer)).text();
      for (const [id, control] of Object.entries(toControls(form))) {
        const expected = renderToStaticMarkup(createElement('input', { ...control, ...replaced[id] }));
        expect(attributesOf(html, control.name)).toMatchObject(attributesOf(expected, control.name));
      }
    },
  );

  const limited = definedForms.flatMap(({ name, form, longest }) => (longest ? [{ name, form, longest }] : []));
  it.each(limited)(
    'A field of the form $name accepts its longest text, as maxlength says, and neither a longer one nor none',
    ({ form, longest }) => {
      const isAccepted = (id: string, text: string) => {
        const field = form[id];
        return field !== undefined && readTexts({ [id]: field }, { [id]: text }, t).values !== undefined;
      };
      for (const [id, max] of Object.entries(longest)) {
        const text = 'x1'.repeat(max).slice(0, max);
        expect([id, ...['', text, `${text}y`].map((one) => isAccepted(id, one))]).toEqual([id, false, true, false]);
        expect([undefined, max]).toContain(form[id]?.html.maxLength);
      }
    },
  );
});
