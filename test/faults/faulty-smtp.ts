import { type AddressInfo, createServer, type Socket } from 'node:net';

/** Where a mail server fails (RFC 5321): at the greeting, after DATA, or when it has the whole mail. */
type Place = 'greeting' | 'data' | 'mail';
type SmtpFault = { at: Place; how: (socket: Socket) => void };

/** Writes until the other end goes away. */
function writeEndless(socket: Socket): void {
  const piece = 'x'.repeat(65_536);
  const more = () => {
    while (!socket.destroyed && socket.write(piece));
    if (!socket.destroyed) socket.once('drain', more);
  };
  socket.write('220 ');
  more();
}

function drip(socket: Socket): void {
  socket.write('2');
  const timer = setInterval(() => socket.write('2'), 100);
  socket.once('close', () => clearInterval(timer));
}

/** The server has not said that it took the mail. */
export const smtpFaults: Record<string, SmtpFault> = {
  'says nothing': { at: 'greeting', how: () => {} },
  'ends the connection': { at: 'greeting', how: (socket) => socket.destroy() },
  'speaks HTTP': {
    at: 'greeting',
    how: (socket) => socket.end('HTTP/1.1 400 Bad Request\r\nConnection: close\r\n\r\n'),
  },
  'answers a byte at a time': { at: 'greeting', how: drip },
  'never ends its line': { at: 'greeting', how: writeEndless },
  'is not available for now': { at: 'greeting', how: (socket) => socket.end('421 later\r\n') },
  'ends the connection before it has the mail': { at: 'data', how: (socket) => socket.destroy() },
  'says nothing after it has the mail': { at: 'mail', how: () => {} },
  'ends the connection in the middle of its answer': {
    at: 'mail',
    how: (socket) => socket.write('25', () => socket.destroy()),
  },
  'has no space for the mail': { at: 'mail', how: (socket) => socket.write('452 insufficient system storage\r\n') },
};

/** It has said so, and goes away at once. */
export const takenAndGone: SmtpFault = {
  at: 'mail',
  how: (socket) => socket.write('250 ok\r\n', () => socket.destroy()),
};

/** A mail server that keeps the Message-IDs of the mails that it has said it took. */
export async function startFaultySmtp() {
  let fault: SmtpFault | undefined;
  const taken: string[] = [];
  const sockets = new Set<Socket>();
  const meet = (at: Place, socket: Socket): boolean => {
    if (fault?.at !== at) return false;
    fault.how(socket);
    return true;
  };
  const server = createServer((socket) => {
    sockets.add(socket);
    let text = '';
    let isMail = false;
    socket.on('error', () => {}).on('close', () => sockets.delete(socket));
    if (!meet('greeting', socket)) socket.write('220 mx.example.com\r\n');
    socket.setEncoding('utf8').on('data', (part: string) => {
      text += part;
      for (let end = text.indexOf('\r\n'); !isMail && end >= 0; end = text.indexOf('\r\n')) {
        const line = text.slice(0, end).toUpperCase();
        text = text.slice(end + 2);
        if (line === 'QUIT') socket.end('221 bye\r\n');
        else if (line !== 'DATA') socket.write('250 ok\r\n');
        else if (!meet('data', socket)) {
          isMail = true;
          socket.write('354 go on\r\n');
        }
      }
      if (!isMail || !text.includes('\r\n.\r\n')) return;
      const [, id = 'none'] = /^Message-ID: (.*)$/im.exec(text) ?? [];
      [text, isMail] = ['', false];
      if (!fault || fault === takenAndGone) taken.push(id.trim());
      if (!meet('mail', socket)) socket.write('250 ok\r\n');
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    port: (server.address() as AddressInfo).port,
    taken,
    connections: () => sockets.size,
    fail(next: SmtpFault | undefined) {
      fault = next;
    },
    async close() {
      for (const socket of sockets) socket.destroy();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}
