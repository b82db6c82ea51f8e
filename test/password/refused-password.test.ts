import { moveTo, undoPath, undoToken } from '../account/contact/steps.ts';
import { errorOf, newAddress, profile } from '../sign-up/steps.ts';
import { startFoyer, type TestFoyer } from '../support/foyer.ts';
import { anyBackend } from '../support/stores.ts';

const weak = 'short';
const tooShort = 'The password needs at least 8 characters.';

describe('the page of a refused password', () => {
  let foyer: TestFoyer;
  beforeAll(async () => {
    foyer = await startFoyer(anyBackend);
  });
  afterAll(() => foyer?.close());

  const forms: Record<string, () => Promise<[string, Response]>> = {
    'sign-up': async () => {
      const answer = await foyer.browser().post('/signup', profile(newAddress(), { password: weak }));
      return ['password', answer];
    },
    'reset, with a wrong repetition': async () => {
      const { email } = await foyer.addUser();
      const browser = foyer.browser();
      await browser.post('/forgot-password', { username: email });
      const fields = { code: '123456', password: weak, confirm: 'other' };
      return ['password', await browser.post(`/reset-password?${new URLSearchParams({ username: email })}`, fields)];
    },
    'change, with a wrong old password': async () => {
      const browser = await foyer.signedIn(await foyer.addUser());
      const fields = { old_password: 'not the old one 1', new_password: weak };
      return ['new_password', await browser.post('/settings/password', fields)];
    },
    'undo of an email change, without a repetition': async () => {
      const user = await foyer.addUser();
      await moveTo(foyer, await foyer.signedIn(user), newAddress());
      const token = await undoToken(foyer, user.email);
      const fields = { token, password: weak, confirm: '' };
      return ['password', await foyer.browser().post(undoPath(token), fields)];
    },
  };

  it.each(Object.keys(forms))(
    'Its field is invalid and says why, its checklist is neutral, and it is empty: %s',
    async (name) => {
      const [field, answer] = (await forms[name]?.()) ?? [];
      const html = (await answer?.text()) ?? '';
      expect([answer?.status, errorOf(html, field ?? '')]).toEqual([400, tooShort]);
      const input = new RegExp(`<input[^>]*id="field-${field}"[^>]*>`).exec(html)?.[0] ?? '';
      expect(input).toContain('aria-invalid="true"');
      expect(input).not.toContain('value=');
      const list = new RegExp(`<ul class="strength" id="field-${field}-strength".*?</ul>`, 's').exec(html)?.[0] ?? '';
      expect([...list.matchAll(/<li class="([^"]*)"/g)].map(([, state]) => state)).toEqual(['open', 'open', 'open']);
      // It speaks once something is typed.
      expect(html).toMatch(/<p class="visually-hidden" role="status"><\/p>/);
    },
  );
});
