import { createSessionHooks, type SessionSubscribers } from '../../server/sessions/index.ts';
import { toUserId } from '../../server/shared/index.ts';

const user = toUserId('7f9d0f4e-0000-7000-8000-000000000001');

const recordEnd =
  (name: string, calls: string[]): SessionSubscribers['onSessionsEnded'][string] =>
  async (sessions) => {
    calls.push(`${name} begins`);
    await new Promise((resolve) => setImmediate(resolve));
    calls.push(`${name} has ended ${sessions.length}`);
  };

describe('The hooks of sessions', () => {
  it('Subscribers are called one after the other, in the order of their list', async () => {
    const calls: string[] = [];
    const hooks = createSessionHooks();
    hooks.subscribe({ onSessionsEnded: { first: recordEnd('first', calls), second: recordEnd('second', calls) } });
    await hooks.onSessionsEnded([]);
    expect(calls).toEqual(['first begins', 'first has ended 0', 'second begins', 'second has ended 0']);
  });

  it('An event without subscribers does nothing, and another event does not reach its subscribers', async () => {
    const calls: string[] = [];
    const hooks = createSessionHooks();
    hooks.subscribe({ onAllSessionsEnded: { record: async (userId) => void calls.push(userId) } });
    await hooks.onSessionsEnded([]);
    expect(calls).toEqual([]);
    await hooks.onAllSessionsEnded(user);
    expect(calls).toEqual([user]);
  });

  it('A subscriber that fails makes the event fail, and later ones are not called', async () => {
    const calls: string[] = [];
    const hooks = createSessionHooks();
    const fail = async () => {
      throw new Error('the store is away');
    };
    hooks.subscribe({ onSessionsEnded: { fail, second: recordEnd('second', calls) } });
    await expect(hooks.onSessionsEnded([])).rejects.toThrow('the store is away');
    expect(calls).toEqual([]);
  });
});
