import { Redis } from 'ioredis';
import { keepReviving } from '../../server/store/redis-revival.ts';
import { leftOut, requireService } from '../support/services.ts';

if (!leftOut('redis')) {
  describe('a Redis client that has given up', () => {
    it('is revived, unless it was closed on purpose', async () => {
      const redis = new Redis(requireService('redis'), { lazyConnect: true });
      await redis.connect();
      const stopReviving = keepReviving(redis);
      const ended = new Promise((resolve) => redis.once('end', resolve));
      const revived = new Promise((resolve) => redis.once('ready', resolve));
      redis.disconnect();
      await ended;
      await revived;
      expect(await redis.ping()).toBe('PONG');

      stopReviving();
      const closed = new Promise((resolve) => redis.once('end', resolve));
      redis.disconnect();
      await closed;
      await new Promise((resolve) => setTimeout(resolve, 800));
      expect(redis.status).toBe('end');
    });
  });
}
