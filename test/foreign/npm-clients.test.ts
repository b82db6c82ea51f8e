import { testForeignClients } from './client-tests.ts';
import { npmClients } from './npm-clients.ts';

testForeignClients(npmClients);
