import { createSessionHooks, type SessionSubscriber } from '../../server/sessions/index.ts';
import { toUserId } from '../../server/shared/index.ts';

const user = toUserId('7f9d0f4e-0000-7000-8000-000000000001');

function recorder(name: string, calls: string[]): SessionSubscriber {
  return {
    async ended(sessions) {
      calls.push(`${name} begins`);
      await new Promise((resolve) => setImmediate(resolve));
      calls.push(`${name} has ended ${sessions.length}`);
    },
  };
}

describe('The hooks of sessions', () => {
  it('Subscribers are called one after the other, in the order of their subscription', async () => {
    const calls: string[] = [];
    const hooks = createSessionHooks();
    hooks.subscribe(recorder('first', calls), recorder('second', calls));
    await hooks.ended([]);
    expect(calls).toEqual(['first begins', 'first has ended 0', 'second begins', 'second has ended 0']);
  });

  it('A subscriber without a function for an event is passed over', async () => {
    const calls: string[] = [];
    const hooks = createSessionHooks();
    hooks.subscribe(recorder('first', calls), { allEnded: async (userId) => void calls.push(userId) });
    await hooks.allEnded(user);
    expect(calls).toEqual([user]);
  });

  it('A subscriber that fails makes the event fail, and later ones are not called', async () => {
    const calls: string[] = [];
    const hooks = createSessionHooks();
    hooks.subscribe(
      {
        ended: async () => {
          throw new Error('the store is away');
        },
      },
      recorder('second', calls),
    );
    await expect(hooks.ended([])).rejects.toThrow('the store is away');
    expect(calls).toEqual([]);
  });
});
