/** The baseline for sign-ins: only argon2id with Foyer's parameters, one hash for each core at once. */
import { availableParallelism } from 'node:os';
import { verify } from '@node-rs/argon2';
import type * as PasswordModule from '../../../server/password/index.ts';
import { built } from '../built.ts';
import { serve } from '../rpc.ts';
import { password, usage } from '../setting.ts';

let passwordHash: string | undefined;

/** @returns verifications per second */
async function measure({ ms }: { ms: number }): Promise<number> {
  if (passwordHash === undefined) {
    const { createPasswordHasher } = await built<typeof PasswordModule>('server/password/index');
    // The hash holds the parameters, so both sides verify the same.
    passwordHash = await createPasswordHasher({ queueMax: 1, waitMs: 1_000 }).hash(password, 'operator');
  }
  const hash = passwordHash;
  const beganMs = performance.now();
  let done = 0;
  const worker = async () => {
    while (performance.now() - beganMs < ms) {
      if (!(await verify(hash, password))) throw new Error('the password does not fit its hash');
      done += 1;
    }
  };
  await Promise.all(Array.from({ length: availableParallelism() }, worker));
  return done / ((performance.now() - beganMs) / 1000);
}

const handlers = { measure, usage };
export type RawArgon2 = typeof handlers;
serve(handlers);
