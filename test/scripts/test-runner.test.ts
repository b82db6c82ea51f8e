import { separateChannel } from '../../scripts/lib/test-runner.mjs';

/** The channel of jest-light-runner 0.8.2: one for all processes. */
function createSharedChannel() {
  const listeners = new Set<(message: unknown) => void>();
  return {
    onMessage(listener: (message: unknown) => void) {
      listeners.add(listener);
    },
    postMessage(message: unknown) {
      if (message !== 'settings?') return;
      for (const listener of listeners) {
        listener('settings');
        listeners.delete(listener);
      }
    },
  };
}

function createProcess() {
  const received: unknown[] = [];
  return { received, listen: (message: unknown) => received.push(message) };
}

describe('the channel between the tests’ processes', () => {
  it('A process that has not asked yet is not answered in place of the one that asks', () => {
    const shared = createSharedChannel();
    const [first, second] = [createProcess(), createProcess()];
    const channels = [first, second].map(({ listen }) => {
      const channel = separateChannel(shared);
      channel.onMessage(listen);
      return channel;
    });
    channels[0]?.postMessage('settings?');
    expect([first.received, second.received]).toEqual([['settings'], []]);
    channels[1]?.postMessage('settings?');
    expect([first.received, second.received]).toEqual([['settings'], ['settings']]);
  });

  it('The former, shared channel gives the second process nothing when it asks', () => {
    const shared = createSharedChannel();
    const [first, second] = [createProcess(), createProcess()];
    shared.onMessage(first.listen);
    shared.onMessage(second.listen);
    shared.postMessage('settings?');
    second.received.length = 0;
    shared.postMessage('settings?');
    expect(second.received).toEqual([]);
  });
});
