import type { Router } from 'express';
import type { SettingsDeps } from './deps.ts';

/** Every subject of the settings has a file of its own with its paths; each path is the form's, too. */
export function settingsRoutes(_router: Router, _deps: SettingsDeps): void {}
