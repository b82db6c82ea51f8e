import { boundedQueue, PasswordQueueFullError } from '../../server/password/queue.ts';

/** A job that ends when the test says so. */
function held() {
  const { promise, resolve, reject } = Promise.withResolvers<string>();
  return { job: () => promise, resolve, reject };
}
const turn = () => new Promise((resolve) => setImmediate(resolve));

describe('boundedQueue', () => {
  it('The queue runs no more jobs at once than allowed, in the order of arrival', async () => {
    const queue = boundedQueue({ running: 2, waiting: 10, waitMs: 1_000 });
    const order: number[] = [];
    let most = 0;
    let now = 0;
    await Promise.all(
      Array.from({ length: 8 }, (_, n) =>
        queue.run(async () => {
          now += 1;
          most = Math.max(most, now);
          order.push(n);
          await turn();
          now -= 1;
        }),
      ),
    );
    expect(most).toBe(2);
    expect(order).toEqual([0, 1, 2, 3, 4, 5, 6, 7]);
    expect(queue.state()).toEqual({ running: 0, waiting: 0 });
  });

  it('A full queue refuses a job at once and accepts jobs again later', async () => {
    const queue = boundedQueue({ running: 1, waiting: 1, waitMs: 1_000 });
    const [first, second] = [held(), held()];
    const running = queue.run(first.job);
    const waiting = queue.run(second.job);
    await expect(queue.run(async () => 'late')).rejects.toMatchObject({ name: 'PasswordQueueFull', reason: 'full' });
    first.resolve('first');
    second.resolve('second');
    expect(await Promise.all([running, waiting])).toEqual(['first', 'second']);
    expect(await queue.run(async () => 'later')).toBe('later');
  });

  it('A job that waits too long is refused and never run', async () => {
    const queue = boundedQueue({ running: 1, waiting: 5, waitMs: 20 });
    const first = held();
    const running = queue.run(first.job);
    let ran = false;
    const refused = queue.run(async () => {
      ran = true;
    });
    await expect(refused).rejects.toBeInstanceOf(PasswordQueueFullError);
    expect(queue.state()).toEqual({ running: 1, waiting: 0 });
    first.resolve('done');
    await running;
    await turn();
    expect(ran).toBe(false);
    expect(queue.state()).toEqual({ running: 0, waiting: 0 });
  });

  it('A job that fails frees its place', async () => {
    const queue = boundedQueue({ running: 1, waiting: 5, waitMs: 1_000 });
    const failing = Promise.allSettled(
      Array.from({ length: 3 }, () =>
        queue.run(async () => {
          throw new Error('no');
        }),
      ),
    );
    expect((await failing).map(({ status }) => status)).toEqual(['rejected', 'rejected', 'rejected']);
    expect(await queue.run(async () => 'fine')).toBe('fine');
  });
});
