import { setDisabled } from '../../server/users/index.ts';
import { service, signedInto } from '../api/callers.ts';
import { startFoyer, type TestFoyer } from '../support/foyer.ts';
import { toUserId } from '../support/ids.ts';
import { sendRequest } from '../support/send-request.ts';
import { backends } from '../support/stores.ts';

const minuteMs = 60_000;

describe.each(backends)('the calls that send messages, on $name', (backend) => {
  let foyer: TestFoyer;
  let token: string;
  beforeAll(async () => {
    foyer = await startFoyer(backend, {
      SENDGRID_TEMPLATES: 'receipt=d-1,share=d-2',
      SENDGRID_OPEN_TEMPLATES: 'share',
    });
    ({ token } = await service(foyer, ['messages:send']));
  });
  afterAll(() => foyer?.close());

  async function call(path: string, body: object, bearer = token) {
    const answer = await sendRequest(`${foyer.url}${path}`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', authorization: `Bearer ${bearer}` },
      body: JSON.stringify(body),
    });
    const json = (await answer.json()) as Record<string, string> & { errors?: { name: string }[] };
    return { status: answer.status, json, headers: answer.headers, faults: json.errors?.map(({ name }) => name) };
  }

  describe('POST /sentEmail', () => {
    const send = (body: object) => call('/sentEmail', body);

    it('POST /sentEmail sends the password notice to a user with the stored name and language', async () => {
      const user = await foyer.addUser({ givenName: 'Grace', locale: 'de' });
      const given = { emailAddress: user.email.toUpperCase(), action: 'password', fullname: 'Dear Winner', plan: '10' };
      expect(await send({ ...given, pagename: 'x' })).toMatchObject({ status: 200, json: { status: 'accepted' } });
      const [mail, ...more] = await foyer.mails(user.email);
      expect(more).toEqual([]);
      expect(mail).toMatchObject({ template: 'password-changed', values: { givenName: 'Grace' } });
      expect(mail?.html).toContain('lang="de"');
      expect(mail?.html).not.toContain('Winner');
    });

    it('POST /sentEmail sends a mapped template with its merge variables', async () => {
      const user = await foyer.addUser();
      const variables = { totalAmount: '99.00', lines: 'one\ntwo' };
      await send({ emailAddress: user.email, action: 'receipt', fullname: 'Ada Member', plan: 'Basic', variables });
      const [sent] = await foyer.mails(user.email);
      expect(sent?.mail).toEqual({
        to: user.email,
        from: { name: 'Foyer', address: 'no-reply@localhost' },
        templateId: 'd-1',
        values: { ...variables, fullname: 'Ada Member', plan: 'Basic', emailAddress: user.email },
      });
    });

    it('POST /sentEmail is no open relay: other addresses get only the templates that the operator has opened', async () => {
      const to = 'stranger@example.net';
      for (const action of ['password', 'welcome', 'receipt']) {
        expect(await send({ emailAddress: to, action })).toMatchObject({ status: 404 });
      }
      expect(await foyer.mails(to)).toEqual([]);
      expect(await send({ emailAddress: to, action: 'share' })).toMatchObject({ status: 200 });
      expect(await foyer.mails(to)).toEqual([expect.objectContaining({ template: 'mapped:share' })]);
      const disabled = await foyer.addUser();
      await setDisabled(foyer.deps.database.db, disabled.id, { disabledAt: 1, nowMs: 1 });
      expect(await send({ emailAddress: disabled.email, action: 'password' })).toMatchObject({ status: 404 });
    });

    it.each(['verify-email', 'password-reset', 'new-device', 'account-exists', 'invoice', '__proto__', 'mapped:share'])(
      'POST /sentEmail has no template %s for clients',
      async (action) => {
        const user = await foyer.addUser();
        expect(await send({ emailAddress: user.email, action })).toMatchObject({
          status: 400,
          faults: ['body.action'],
        });
        expect(await foyer.mails(user.email)).toEqual([]);
      },
    );

    it('POST /sentEmail refuses anything but one address and values that could end a header', async () => {
      const { email } = await foyer.addUser();
      for (const emailAddress of [
        `${email}\r\nBcc: evil@example.net`,
        `${email},evil@example.net`,
        `Ada <${email}>`,
        `"x"@example.com`,
        'member',
        '',
      ]) {
        expect(await send({ emailAddress, action: 'password' })).toMatchObject({
          status: 400,
          faults: ['body.emailAddress'],
        });
      }
      const bad = { fullname: 'Ada\r\nBcc: evil@example.net', variables: { 'a\r\nb': 'x' } };
      const refused = await send({ emailAddress: email, action: 'receipt', ...bad });
      expect(refused.status).toBe(400);
      expect(refused.faults).toContain('body.fullname');
      expect(await foyer.mails(email)).toEqual([]);
    });

    it('POST /sentEmail allows ten mails an hour to one address, from all clients together', async () => {
      const { email } = await foyer.addUser();
      const other = await service(foyer, ['messages:send']);
      const body = { emailAddress: email, action: 'password' };
      const answers = await Promise.all(
        Array.from({ length: 14 }, (_, n) => call('/sentEmail', body, n % 2 ? token : other.token)),
      );
      expect(answers.filter(({ status }) => status === 200)).toHaveLength(10);
      const refused = answers.find(({ status }) => status === 429);
      expect(Number(refused?.headers.get('retry-after'))).toBeGreaterThan(3_000);
      expect(await foyer.mails(email)).toHaveLength(10);
    });
  });

  it('POST /sentEmail with uniform answers does not reveal which addresses have an account', async () => {
    const uniform = await startFoyer(backend, { PREVENT_USER_EXISTENCE_ERRORS: 'true' });
    try {
      const { token: other } = await service(uniform, ['messages:send']);
      const user = await uniform.addUser();
      const answers = await Promise.all(
        [user.email, 'stranger@example.net'].map(async (emailAddress) => {
          const answer = await sendRequest(`${uniform.url}/sentEmail`, {
            method: 'POST',
            headers: { 'content-type': 'application/json', authorization: `Bearer ${other}` },
            body: JSON.stringify({ emailAddress, action: 'password' }),
          });
          return { status: answer.status, body: await answer.text() };
        }),
      );
      expect(answers[0]).toEqual(answers[1]);
      expect(await uniform.mails(user.email)).toHaveLength(1);
      expect(await uniform.mails('stranger@example.net')).toEqual([]);
    } finally {
      await uniform.close();
    }
  });

  describe('POST /message/sent', () => {
    const notify = (body: object, bearer?: string) => call('/message/sent', body, bearer);
    const message = { title: 'A task', description: 'Line one\nline two', category: 'task' };
    const stored = (userId: string) =>
      foyer.deps.database.db
        .selectFrom('notifications')
        .selectAll()
        .where('userId', '=', toUserId(userId))
        .orderBy('id')
        .execute();

    it.each([
      { name: 'title', fault: 'a control character', value: 'a\u0000b' },
      { name: 'title', fault: 'a direction mark', value: 'a\u202eb' },
      { name: 'title', fault: 'its length', value: 'x'.repeat(201), max: 200 },
      { name: 'description', fault: 'a control character', value: 'a\u0007b' },
      { name: 'description', fault: 'its length', value: 'x'.repeat(4_001), max: 4_000 },
      { name: 'fullname', fault: 'a control character', value: 'a\u0000b' },
    ])('POST /message/sent refuses a $name for $fault by the right name', async ({ name, value, max }) => {
      const { id: userId } = await foyer.addUser();
      const { status, json } = await notify({ ...message, userId, [name]: value });
      const detail = max === undefined ? 'characters that are not accepted' : `at most ${max} characters`;
      expect([status, json.errors]).toEqual([400, [{ name: `body.${name}`, detail }]]);
    });

    it('POST /message/sent answers with the stored message, unread, and keeps it', async () => {
      const user = await foyer.addUser();
      const more = { pagename: 'My page', company: 'Foyer & Söhne', email: 'who@example.com', action: 'share' };
      const { status, json } = await notify({ ...message, ...more, userId: user.id, MessageGroupId: 'g' });
      expect(status).toBe(200);
      expect(json).toEqual({
        ...message,
        ...more,
        id: expect.any(String),
        userId: user.id,
        status: 'unread',
        createdAt: expect.stringMatching(/^\d{4}-.*Z$/),
        updatedAt: json.createdAt,
        MessageGroupId: 'g',
      });
      await foyer.deps.outboxWorker.turn();
      expect(await stored(user.id)).toEqual([
        expect.objectContaining({
          id: json.id,
          title: 'A task',
          status: 'unread',
          createdAt: Date.parse(json.createdAt ?? ''),
        }),
      ]);
    });

    it('POST /message/sent recognizes a MessageDeduplicationId for five minutes, also after delivery', async () => {
      const user = await foyer.addUser();
      const given = { ...message, userId: user.id, MessageDeduplicationId: 'd' };
      const first = await notify(given);
      expect((await notify({ ...given, title: 'Another' })).json).toEqual(first.json);
      await foyer.deps.outboxWorker.turn();
      expect((await notify(given)).json).toEqual(first.json);
      // The same id of another user is another message.
      const other = await foyer.addUser();
      expect((await notify({ ...given, userId: other.id })).json.id).not.toBe(first.json.id);
      foyer.passTime(5 * minuteMs);
      expect((await notify(given)).json.id).not.toBe(first.json.id);
      await foyer.deps.outboxWorker.turn();
      expect(await stored(user.id)).toHaveLength(2);
    });

    it('Attack: a client suppresses another client’s message by using its MessageDeduplicationId first', async () => {
      const user = await foyer.addUser();
      const given = { ...message, userId: user.id, MessageDeduplicationId: 'same' };
      const other = await service(foyer, ['messages:send']);
      await notify({ ...given, title: 'Mine' }, other.token);
      expect((await notify(given)).json.title).toBe('A task');
    });

    it('POST /message/sent lets a user write only to that user, and a client only to existing users', async () => {
      const { user, tokens } = await signedInto(foyer);
      const other = await foyer.addUser();
      expect(await notify(message, tokens.access_token)).toMatchObject({ status: 200, json: { userId: user.id } });
      expect(await notify({ ...message, userId: other.id }, tokens.access_token)).toMatchObject({ status: 403 });
      expect(await notify(message)).toMatchObject({ status: 400, faults: ['body.userId'] });
      expect(await notify({ ...message, userId: 'unknown-user' })).toMatchObject({ status: 404 });
      await foyer.deps.outboxWorker.turn();
      expect(await stored(other.id)).toEqual([]);
    });

    it('POST /message/sent refuses invalid values by name', async () => {
      const user = await foyer.addUser();
      const bad = { title: 'a\u0000b', description: 'x'.repeat(4_001), category: '', MessageDeduplicationId: 'a b' };
      const { status, faults } = await notify({ userId: user.id, ...bad });
      expect(status).toBe(400);
      expect(faults).toEqual(['body.title', 'body.description', 'body.MessageDeduplicationId']);
    });
  });
});
