import { createPasswordHasher } from '../../server/password/index.ts';

const queue = { queueMax: 10, waitMs: 10_000 };

describe('a password hash', () => {
  it('A hash is argon2id with at least the parameters of OWASP: 19 MiB, 2 passes', async () => {
    const hasher = createPasswordHasher(queue);
    const hash = await hasher.hash('open sesame 7', 'operator');
    expect(hash).toMatch(/^\$argon2id\$v=19\$m=19456,t=2,p=1\$/);
    expect(await hasher.verify(hash, 'open sesame 7', 'operator')).toBe(true);
    expect(await hasher.verify(hash, 'open sesame 8', 'operator')).toBe(false);
    expect(await hasher.hash('open sesame 7', 'operator')).not.toBe(hash);
  });

  it('A missing hash never verifies', async () => {
    expect(await createPasswordHasher(queue).verify(null, 'open sesame 7', 'operator')).toBe(false);
  });

  it('A hash with another cost still verifies', async () => {
    const cheap = createPasswordHasher({ ...queue, cost: { memoryCost: 64, timeCost: 1, parallelism: 1 } });
    expect(
      await createPasswordHasher(queue).verify(
        await cheap.hash('open sesame 7', 'operator'),
        'open sesame 7',
        'operator',
      ),
    ).toBe(true);
  });
});
