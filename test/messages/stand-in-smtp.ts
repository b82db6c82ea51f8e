import { SMTPServer } from 'smtp-server';

export interface SmtpMail {
  from: string;
  to: string[];
  head: string;
  body: string;
}

interface SmtpOptions {
  login?: { user: string; pass: string };
  /** With STARTTLS, or from the first byte. */
  tls?: { key: string; cert: string; secure: boolean };
  /** Any free one unless it is given. */
  port?: number;
}

/** A mail server on this machine that keeps what it takes. */
export async function startSmtp({ login, tls, port: fixedPort = 0 }: SmtpOptions = {}) {
  const received: SmtpMail[] = [];
  const refuse: { at?: 'MAIL FROM' | 'RCPT TO' | 'DATA'; code: number } = { code: 550 };
  const refusal = (at: typeof refuse.at) =>
    refuse.at === at ? Object.assign(new Error('refused <ada@example.com>'), { responseCode: refuse.code }) : null;
  const server = new SMTPServer({
    ...tls,
    disabledCommands: [...(tls ? [] : ['STARTTLS']), ...(login ? [] : ['AUTH'])],
    authOptional: !login,
    allowInsecureAuth: true,
    onAuth: ({ username, password }, _session, done) =>
      username === login?.user && password === login?.pass
        ? done(null, { user: username })
        : done(Object.assign(new Error('no'), { responseCode: 535 })),
    onMailFrom: (_address, _session, done) => done(refusal('MAIL FROM')),
    onRcptTo: (_address, _session, done) => done(refusal('RCPT TO')),
    onData(stream, { envelope }, done) {
      const chunks: Buffer[] = [];
      stream.on('data', (chunk: Buffer) => chunks.push(chunk));
      stream.on('end', () => {
        const error = refusal('DATA');
        if (error) return done(error);
        const [head = '', ...body] = Buffer.concat(chunks).toString().split('\r\n\r\n');
        received.push({
          from: envelope.mailFrom ? envelope.mailFrom.address : '',
          to: envelope.rcptTo.map(({ address }) => address),
          head,
          body: body.join('\r\n\r\n'),
        });
        done(null);
      });
    },
  });
  server.on('error', () => {});
  const port = await new Promise<number>((resolve) => {
    const listening = server.listen(fixedPort, '127.0.0.1', () =>
      resolve((listening.address() as { port: number }).port),
    );
  });
  return { port, received, refuse, close: () => new Promise<void>((resolve) => server.close(() => resolve())) };
}
