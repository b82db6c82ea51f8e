import type { Response } from 'express';
import type { Broken } from './answers.ts';

const hugeBytes = 12 * 1024 * 1024;
const pieceBytes = 64 * 1024;
/** The connection is closed after this time, when no client waits any more. */
const hangMs = 60_000;

/** Valid JSON that never ends. */
function sendHuge(res: Response): void {
  res.status(200).type('json').write('{"padding":"');
  let sent = 0;
  const more = () => {
    while (sent < hugeBytes && !res.destroyed) {
      sent += pieceBytes;
      if (!res.write('x'.repeat(pieceBytes))) {
        res.once('drain', more);
        return;
      }
    }
    res.end('"}');
  };
  more();
}

/**
 * Sends a faulty answer, if this endpoint has one planned.
 * @returns whether it has
 */
export function sendBrokenAnswer(res: Response, endpoint: 'token' | 'profile', broken: Broken | undefined): boolean {
  switch (broken) {
    case `${endpoint}-server-error`:
      res
        .status(502)
        .type('html')
        .send('<html><head><title>502 Bad Gateway</title></head><body>Bad Gateway</body></html>');
      return true;
    case `${endpoint}-not-json`:
      res.status(200).type('json').send('{"access_token": "cut o');
      return true;
    case `${endpoint}-empty`:
      res.status(200).json({});
      return true;
    case `${endpoint}-huge`:
      sendHuge(res);
      return true;
    case `${endpoint}-hangs`:
      setTimeout(() => res.destroy(), hangMs).unref();
      return true;
    case `${endpoint}-drops`:
      res.destroy();
      return true;
    default:
      return false;
  }
}
