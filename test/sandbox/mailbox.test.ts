import { type Language, languages } from '../../locales/index.ts';
import { createSandboxMailbox, type SandboxMailbox } from '../../sandbox/index.ts';
import { mailTemplates, type OutgoingMail } from '../../server/messages/index.ts';
import { startFoyer, type TestFoyer } from '../support/foyer.ts';
import { anyBackend, backends } from '../support/stores.ts';
import { rawKeys, visible } from '../views/raw-keys.ts';

const from = { name: 'Foyer', address: 'no-reply@example.com' };
const mail = (over: Partial<{ to: string; subject: string; text: string; html: string }> = {}): OutgoingMail => ({
  to: 'vera@example.com',
  from,
  subject: 'Your code',
  html: '<!doctype html><html lang="en"><body>493027</body></html>',
  text: 'Hello,\n\n493027\n',
  ...over,
});

describe.each(backends)('the sandbox’s mailbox on $name', (backend) => {
  let stores: Awaited<ReturnType<typeof backend.open>>;
  let nowMs: number;
  let mailbox: SandboxMailbox;
  beforeEach(async () => {
    stores = await backend.open();
    nowMs = 1_000;
    mailbox = createSandboxMailbox({ kv: stores.kv, now: () => nowMs });
  });
  afterEach(() => stores?.destroy());
  const send = (idempotencyKey: string, over: Parameters<typeof mail>[0] = {}) => {
    nowMs += 1;
    return mailbox.carriers.mail.send(mail(over), { idempotencyKey });
  };

  it('The mailbox keeps mail and text messages, newest first, with sender and code', async () => {
    await send('a');
    nowMs += 1;
    await mailbox.carriers.sms.send({ to: '+4930123456', text: 'Your code is 654321.' }, { idempotencyKey: 'b' });
    await send('c', { subject: 'Welcome', text: 'Order 123456 is under way' });
    expect(await mailbox.list()).toMatchObject([
      { channel: 'mail', subject: 'Welcome', to: 'vera@example.com', atMs: 1_003 },
      { channel: 'sms', to: '+4930123456', text: 'Your code is 654321.', code: '654321' },
      { channel: 'mail', from: 'Foyer <no-reply@example.com>', code: '493027', html: expect.stringContaining('<html') },
    ]);
    // Six digits in a sentence of a mail are no code.
    expect((await mailbox.list())[0]).not.toHaveProperty('code');
  });

  it('The mailbox keeps a message once, however often its delivery is tried', async () => {
    await Promise.all([send('a'), send('a'), send('a')]);
    expect(await mailbox.list()).toHaveLength(1);
  });

  it('The mailbox finds the messages of one recipient in any case of letters', async () => {
    await send('a', { to: 'Ada@Example.com' });
    await send('b');
    expect(await mailbox.list({ to: 'ada@example.COM' })).toMatchObject([{ to: 'Ada@Example.com' }]);
    expect(await mailbox.list({ to: 'unknown@example.com' })).toEqual([]);
  });

  it('The mailbox shows the template and values from which the mail service would make a mail', async () => {
    await mailbox.carriers.mail.send(
      {
        to: 'vera@example.com',
        from,
        replyTo: 'help@example.com',
        templateId: 'd-123',
        values: { plan: 'Basic', total: '9' },
      },
      { idempotencyKey: 'a' },
    );
    const [message] = await mailbox.list();
    expect(message).toMatchObject({ subject: 'd-123', text: 'plan: Basic\ntotal: 9', replyTo: 'help@example.com' });
    expect(message).not.toHaveProperty('html');
  });

  it('The mailbox keeps the newest 200 messages', async () => {
    for (let at = 0; at < 203; at += 1) await send(`key ${at}`, { subject: `Mail ${at}` });
    const subjects = (await mailbox.list()).map(({ subject }) => subject);
    expect(subjects).toHaveLength(200);
    expect(subjects.slice(0, 2)).toEqual(['Mail 202', 'Mail 201']);
    expect(subjects).not.toContain('Mail 2');
  });

  it('The mailbox keeps each message for a day and lists none that is gone', async () => {
    const kept: number[] = [];
    const watched = new Proxy(stores.kv, {
      get(kv, name) {
        if (name !== 'setIfAbsent') return (Reflect.get(kv, name) as () => unknown).bind(kv);
        return (key: string, value: string, ttlMs: number) => {
          kept.push(ttlMs);
          return kv.setIfAbsent(key, value, ttlMs);
        };
      },
    });
    const { carriers, list } = createSandboxMailbox({ kv: watched, now: () => nowMs });
    await carriers.mail.send(mail(), { idempotencyKey: 'a' });
    expect(kept).toEqual([24 * 60 * 60_000]);
    const [message] = await list();
    await stores.kv.delete(`sandbox-message:${message?.id}`);
    expect(await list()).toEqual([]);
  });

  it('The mailbox finds a message only by its id', async () => {
    await send('a');
    const [message] = await mailbox.list();
    expect(await mailbox.find(message?.id ?? '')).toEqual(message);
    expect(await mailbox.find('a')).toBeUndefined();
  });
});

describe('the pages of the mailbox', () => {
  let foyer: TestFoyer;
  let mailbox: SandboxMailbox;
  beforeAll(async () => {
    foyer = await startFoyer(anyBackend);
    mailbox = createSandboxMailbox(foyer.deps);
  });
  afterAll(() => foyer?.close());
  const read = async (path: string, lang: Language = 'en') => {
    const response = await foyer.browser().get(path, { headers: { 'accept-language': lang } });
    return {
      status: response.status,
      header: (name: string) => response.headers.get(name) ?? '',
      html: await response.text(),
    };
  };
  const post = (template: 'verify-email', to: string, lang: Language) =>
    foyer.deps.database.transaction((trx) =>
      foyer.deps.outbox.add(trx, {
        channel: 'mail',
        to,
        template,
        lang,
        values: { givenName: 'Vera', code: '493027', minutes: 10 },
      }),
    );

  it('The mailbox page is empty at first and linked from the ribbon of every page', async () => {
    expect((await read('/')).html).toContain('<a href="/sandbox/mailbox">Open the mailbox</a>');
    const { status, html } = await read('/sandbox/mailbox');
    expect(status).toBe(200);
    expect(visible(html)).toContain('No messages yet');
    expect(html).not.toContain('http-equiv="refresh"');
  });

  it('The mailbox page shows what the outbox sent: code, recipient, HTML, text, headers', async () => {
    await post('verify-email', 'vera@example.com', 'de');
    await foyer.mails('vera@example.com');
    const list = await read('/sandbox/mailbox');
    expect(list.html).toMatch(/<code id="code-[\w-]+">493027<\/code>/);
    expect(visible(list.html)).toContain('vera@example.com');
    const [, address = ''] =
      /<a class="item-label" href="(\/sandbox\/mailbox\/[\w-]{43})">493027 ist Ihr /.exec(list.html) ?? [];
    const one = await read(address);
    expect(one.status).toBe(200);
    expect(one.html).toMatch(/<pre class="mail-text">E-Mail-Adresse bestätigen\n\nGuten Tag Vera,/);
    expect(visible(one.html)).toMatch(/Foyer &lt;no-reply@localhost&gt;/);
    expect(one.html).toContain(`<iframe class="mail-frame" src="${address}/html"`);
    expect(one.html).toMatch(/<iframe[^>]* sandbox="allow-popups allow-popups-to-escape-sandbox"/);
    expect(one.header('content-security-policy')).toContain("; frame-src 'self';");
    // Pages without frames allow none.
    expect(list.header('content-security-policy')).not.toContain('frame-src');
  });

  it('The HTML of a mail has its own document in which nothing can run, load or be sent', async () => {
    const [message] = await mailbox.list();
    const { status, html, header } = await read(`/sandbox/mailbox/${message?.id}/html`);
    expect(status).toBe(200);
    expect(html).toBe(message?.html);
    const policy = header('content-security-policy');
    expect(policy.split('; ')).toEqual([
      "default-src 'none'",
      "style-src 'unsafe-inline'",
      "form-action 'none'",
      "frame-ancestors 'self'",
      "base-uri 'none'",
      'sandbox allow-popups allow-popups-to-escape-sandbox',
    ]);
    expect(header('x-frame-options')).toBe('SAMEORIGIN');
    expect(header('cache-control')).toBe('no-store');
    expect(header('content-type')).toMatch(/^text\/html/);
  });

  it('The mailbox page filters by recipient and says when there is nothing', async () => {
    await post('verify-email', 'ada@example.com', 'en');
    await foyer.mails('ada@example.com');
    const hers = visible((await read('/sandbox/mailbox?to=ada@example.com')).html);
    expect(hers).toContain('ada@example.com');
    expect(hers).not.toContain('vera@example.com');
    const { status, html } = await read('/sandbox/mailbox?to=%22%3E%3Cb%3E');
    expect(status).toBe(200);
    expect(html).toContain('Nothing for &quot;&gt;&lt;b&gt;');
  });

  it.each([
    '/sandbox/mailbox/none',
    `/sandbox/mailbox/${'a'.repeat(43)}`,
    `/sandbox/mailbox/${'a'.repeat(43)}/html`,
    '/sandbox/mails/none',
  ])('The page %s is not found', async (path) => {
    expect((await read(path)).status).toBe(404);
  });

  it('The page of sample mails shows every mail in every language, whatever the language of the page', async () => {
    for (const lang of languages) {
      const { status, html } = await read(`/sandbox/mails?mails=${lang}`, lang === 'fr' ? 'de' : 'fr');
      expect(status).toBe(200);
      expect(rawKeys(html)).toEqual([]);
      expect(html).toContain(`<html lang="${lang === 'fr' ? 'de' : 'fr'}">`);
      const frames = [...html.matchAll(/<iframe [^>]*src="([^"]*)"/g)].map(([, src = '']) =>
        src.replaceAll('&amp;', '&'),
      );
      expect(frames).toEqual(mailTemplates.map((template) => `/sandbox/mails/${template}?mails=${lang}`));
      for (const src of frames) {
        const document = await read(src);
        expect(document.html).toMatch(new RegExp(`^<!doctype html><html lang="${lang}"`));
        expect(document.header('content-security-policy')).toContain("default-src 'none'");
      }
    }
  });
});

it('The mailbox does not exist without the sandbox', async () => {
  const foyer = await startFoyer(anyBackend, { SANDBOX: 'false', SEARCH_APP_URL: 'https://search.example.com/' });
  try {
    for (const path of ['/sandbox/mailbox', '/sandbox/mails', '/sandbox/mails/welcome'])
      expect((await foyer.browser().get(path)).status).toBe(404);
  } finally {
    await foyer.close();
  }
});
