import { StoreUnavailable } from '../../server/store/index.ts';
import { createWriteLock } from '../../server/store/write-lock.ts';

describe('write lock', () => {
  it('The lock admits one caller at a time, in the order of the requests', async () => {
    const lock = createWriteLock();
    const order: number[] = [];
    let inside = 0;
    const visits = [1, 2, 3, 4, 5].map(async (number) => {
      await lock.acquire(1000);
      inside += 1;
      expect(inside).toBe(1);
      await new Promise((resolve) => setTimeout(resolve, 5));
      order.push(number);
      inside -= 1;
      lock.release();
    });
    await Promise.all(visits);
    expect(order).toEqual([1, 2, 3, 4, 5]);
  });

  it('A caller that waits too long gets StoreUnavailable and loses its place, and the next one gets the lock', async () => {
    const lock = createWriteLock();
    await lock.acquire(1000);
    const impatient = lock.acquire(20);
    const patient = lock.acquire(1000);
    await expect(impatient).rejects.toThrow(StoreUnavailable);
    lock.release();
    await expect(patient).resolves.toBeUndefined();
    lock.release();
    await expect(lock.acquire(20)).resolves.toBeUndefined();
  });
});
