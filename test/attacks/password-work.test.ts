import { createHash } from 'node:crypto';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { PasswordHasher } from '../../server/password/index.ts';
import { ask, codeFor, newPassword, resetPath, submit } from '../password/steps.ts';
import { newAddress, profile } from '../sign-up/steps.ts';
import { startFoyer, type TestFoyer } from '../support/foyer.ts';
import { backends } from '../support/stores.ts';

const breached = 'a breached phrase 7';
const limit = 6;

/** Each new password may cost a call to another service and a slow hash, so every attempt is counted. */
describe.each(backends)('making Foyer work for new passwords, on $name', (backend) => {
  let foyer: TestFoyer;
  let asked = 0;
  const suffix = createHash('sha1').update(breached).digest('hex').toUpperCase().slice(5);
  const service = createServer((_req, res) => {
    asked += 1;
    res.end(`${suffix}:3`);
  });
  const hasher: PasswordHasher & { hashed: number } = {
    hashed: 0,
    async hash(given) {
      hasher.hashed += 1;
      // This gives the other requests time to arrive.
      await new Promise((done) => setTimeout(done, 300));
      return `plain:${given}`;
    },
    verify: async (hash, given) => hash === `plain:${given}`,
  };
  beforeAll(async () => {
    await new Promise<void>((done) => void service.listen(0, '127.0.0.1', done));
  });
  beforeEach(async () => {
    const { port } = service.address() as AddressInfo;
    foyer = await startFoyer(
      backend,
      {
        BREACHED_PASSWORDS_API: `http://127.0.0.1:${port}/range`,
        SIGN_UP_LIMIT_ADDRESS: String(limit),
        GUESS_LIMIT_ADDRESS: String(limit),
      },
      { passwords: hasher },
    );
    asked = 0;
    hasher.hashed = 0;
  });
  afterEach(() => foyer?.close());
  afterAll(() => new Promise((done) => service.close(done)));

  async function proven() {
    const user = await foyer.addUser();
    const browser = foyer.browser();
    await ask(browser, user.email);
    // The code is right and the password is not, so the user need not enter the code again.
    const answer = await submit(browser, user.email, await codeFor(foyer, user.email), `${user.givenName} is here 7`);
    expect(answer.status).toBe(400);
    return { browser, email: user.email };
  }

  it('A sign-up form that can start nothing does not ask the service for breached passwords', async () => {
    for (let n = 0; n < 3 * limit; n += 1) {
      const answer = await foyer.browser().post('/signup', profile('no address', { password: `phrase number ${n}` }));
      expect(answer.status).toBe(400);
    }
    expect(asked).toBe(0);
  });

  it('A sign-up form that can start an account is counted before the service is asked', async () => {
    const statuses: number[] = [];
    for (let n = 0; n < 3 * limit; n += 1) {
      statuses.push((await foyer.browser().post('/signup', profile(newAddress(), { password: breached }))).status);
    }
    expect(asked).toBe(limit);
    expect(statuses.filter((status) => status === 429)).toHaveLength(2 * limit);
  });

  it('A reset whose code was right asks the service no more often than guesses are allowed', async () => {
    const { browser, email } = await proven();
    for (let n = 0; n < 3 * limit; n += 1) await submit(browser, email, '', breached);
    expect(asked).toBe(limit);
  });

  it('A reset whose code was right, sent many times at once, does not fill the password queue', async () => {
    const { browser, email } = await proven();
    const answers = await Promise.all(
      Array.from({ length: 5 * limit }, () =>
        browser.post(resetPath(email), { code: '', password: newPassword, confirm: newPassword }),
      ),
    );
    expect(answers.filter(({ status }) => status === 303)).toHaveLength(1);
    expect(hasher.hashed).toBeLessThanOrEqual(limit);
  });
});
