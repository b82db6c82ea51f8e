import { startFoyer, type TestFoyer } from './foyer.ts';
import { startProviders, type TestProviders } from './providers.ts';
import type { Backend } from './stores.ts';

interface WithProviders {
  foyer: TestFoyer;
  providers: TestProviders;
}

/**
 * One Foyer and its providers for all tests of a block.
 * @param toEnvironment the variables of Foyer
 * @param use gets them before the first test
 */
export function startWithProviders(
  backend: Backend,
  toEnvironment: (started: TestProviders) => Record<string, string>,
  use: (setting: WithProviders) => void,
): void {
  const started: Partial<WithProviders> = {};
  beforeAll(async () => {
    const providers = await startProviders();
    started.providers = providers;
    const foyer = await startFoyer(backend, toEnvironment(providers));
    started.foyer = foyer;
    use({ foyer, providers });
  });
  afterAll(async () => {
    await started.foyer?.close();
    await started.providers?.close();
  });
}
