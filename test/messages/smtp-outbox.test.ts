import { getCACertificates, setDefaultCACertificates } from 'node:tls';
import { smtpCarrier } from '../../server/messages/carrier-smtp.ts';
import { createDelivery } from '../../server/messages/deliver-message.ts';
import { PermanentDeliveryError, renderMail } from '../../server/messages/index.ts';
import { makeCertificate } from '../support/certificate.ts';
import { backends, type OpenStores } from '../support/stores.ts';
import { failureOf, headersOf, options, rendered } from './carrier-steps.ts';
import { eachSetup, mail, type Setup } from './outbox-setup.ts';
import { startSmtp } from './stand-in-smtp.ts';

type Smtp = Awaited<ReturnType<typeof startSmtp>>;
const look = { publicUrl: 'https://login.example.com', brandName: 'Foyer' };

describe.each(backends)('the outbox before an SMTP server, on $name', (backend) => {
  let setup: Setup;
  let stores: OpenStores;
  let smtp: Smtp;
  eachSetup(backend, (opened, underlying) => {
    [setup, stores] = [opened, underlying];
  });
  beforeEach(async () => {
    smtp = await startSmtp({ login: { user: 'foyer', pass: 'right' } });
  });
  afterEach(() => smtp.close());

  const workerAt = (port: number, pass = 'right') =>
    setup.worker(
      createDelivery({
        database: stores.database,
        carriers: { mail: smtpCarrier({ url: `smtp://foyer:${pass}@127.0.0.1:${port}?requireTLS=false` }) },
        from: { address: 'no-reply@example.com', name: 'Foyer' },
        render: (message) => renderMail(message, look),
        templateId: () => undefined,
      }),
    );

  it('A mail that is answered 451 waits, is tried again and arrives once, with the same Message-ID', async () => {
    const [id, worker] = [await setup.add(mail('ada@example.com')), workerAt(smtp.port)];
    Object.assign(smtp.refuse, { at: 'DATA', code: 451 });
    await worker.turn();
    const waiting = await setup.row(id);
    expect(waiting).toMatchObject({ state: 'waiting', attempts: 1, lastError: expect.stringMatching(/SMTP: .*451/) });
    expect(waiting?.lastError).not.toContain('ada@example.com');
    expect(await worker.turn()).toBe(0);
    expect(smtp.received).toEqual([]);
    smtp.refuse.at = undefined;
    setup.pass((waiting?.nextAttemptAt ?? 0) - setup.now());
    await worker.turn();
    await worker.turn();
    expect(smtp.received.map(({ to }) => to)).toEqual([['ada@example.com']]);
    const [received] = smtp.received;
    expect(received && headersOf(received).get('Message-ID')).toBe(`<${id}@example.com>`);
    expect(await setup.row(id)).toMatchObject({ state: 'delivered', attempts: 2 });
  });

  it('A mailbox that does not exist (550) is a dead letter at the first attempt, and the next mail arrives', async () => {
    Object.assign(smtp.refuse, { at: 'RCPT TO', code: 550 });
    const [id, worker] = [await setup.add(mail('unknown@example.com')), workerAt(smtp.port)];
    await worker.turn();
    expect(await setup.row(id)).toMatchObject({ state: 'dead', attempts: 1 });
    smtp.refuse.at = undefined;
    await setup.add(mail('ada@example.com'));
    await worker.turn();
    expect(smtp.received.map(({ to }) => to)).toEqual([['ada@example.com']]);
  });

  it('Mails wait for a corrected password of the mail server, and for a server that is away', async () => {
    const id = await setup.add(mail('ada@example.com'));
    const wait = async () => setup.pass(((await setup.row(id))?.nextAttemptAt ?? 0) - setup.now());
    const wrong = workerAt(smtp.port, 'wrong-pass-word');
    await wrong.turn();
    const refused = await setup.row(id);
    expect(refused).toMatchObject({ state: 'waiting', attempts: 1, lastError: expect.stringContaining('535') });
    expect(refused?.lastError).not.toContain('wrong-pass-word');
    await wrong.stop();
    await wait();
    const { port } = smtp;
    await smtp.close();
    const right = workerAt(port);
    await right.turn();
    expect(await setup.row(id)).toMatchObject({ state: 'waiting', lastError: expect.stringContaining('ECONNREFUSED') });
    smtp = await startSmtp({ login: { user: 'foyer', pass: 'right' }, port });
    await wait();
    await right.turn();
    expect(smtp.received).toHaveLength(1);
    expect(await setup.row(id)).toMatchObject({ state: 'delivered', attempts: 3 });
  });
});

describe('TLS of the carrier SMTP', () => {
  const dayMs = 86_400_000;
  const pair = makeCertificate(['localhost'], Date.now() - dayMs, Date.now() + dayMs);
  const trusted = getCACertificates('default');
  let smtp: Smtp;
  afterEach(async () => {
    setDefaultCACertificates(trusted);
    await smtp.close();
  });
  const login = { user: 'a:b', pass: 'c/d@e' };
  const send = (scheme: string, host = 'localhost') => {
    const url = `${scheme}://${encodeURIComponent(login.user)}:${encodeURIComponent(login.pass)}@${host}:${smtp.port}`;
    return failureOf(smtpCarrier({ url }).send(rendered, options));
  };

  it.each([
    ['smtp', false],
    ['smtps', true],
  ])('A mail goes by %s to a server with a trusted certificate, and its login with it', async (scheme, secure) => {
    smtp = await startSmtp({ login, tls: { ...pair, secure } });
    setDefaultCACertificates([...trusted, pair.cert]);
    expect(await send(scheme)).toBeUndefined();
    expect(smtp.received).toHaveLength(1);
  });

  it.each([
    ['smtp', false],
    ['smtps', true],
  ])(
    'By %s nothing is sent to a server whose certificate is not trusted, and it is tried again',
    async (scheme, secure) => {
      smtp = await startSmtp({ login, tls: { ...pair, secure } });
      const failure = await send(scheme);
      expect(failure?.message).toMatch(/^SMTP: .*self-signed certificate/);
      expect(failure).not.toBeInstanceOf(PermanentDeliveryError);
      expect(smtp.received).toEqual([]);
    },
  );

  it('Nothing is sent to a server with the certificate of another name', async () => {
    smtp = await startSmtp({ login, tls: { ...pair, secure: true } });
    setDefaultCACertificates([...trusted, pair.cert]);
    expect((await send('smtps', '127.0.0.1'))?.message).toMatch(/^SMTP: .*(altnames|IP)/);
    expect(smtp.received).toEqual([]);
  });
});
