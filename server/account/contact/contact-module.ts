import type { Router } from 'express';
import { type ApiOperation, pageRoutes } from '../../http/index.ts';
import type { Origin } from '../../messages/index.ts';
import type { FlowId } from '../../shared/index.ts';
import type { User } from '../../users/index.ts';
import {
  type ConfirmEmailChangeResult,
  confirmEmail,
  type RequestEmailChangeResult,
  requestEmailChange,
  resendEmailChangeCode,
} from './change-email.ts';
import {
  type ConfirmPhoneChangeResult,
  confirmPhone,
  type PhoneResent,
  type RemovePhoneResult,
  type RequestPhoneChangeResult,
  removeUserPhone,
  requestPhoneChange,
  resendPhoneCode,
} from './change-phone.ts';
import type { ContactDeps, ContactSettings } from './contact-deps.ts';
import { contactOperations } from './contact-operations.ts';
import { createPendingContactChanges, type PendingContactChanges } from './pending-contact-changes.ts';
import { undoEmailChangeRoutes } from './undo-email-change-handlers.ts';
import type { ResendCodeResult } from './verify-contact-code.ts';

export interface ContactModule {
  /** See each rule; `flow` is the id of the pending change. */
  email: {
    ask(user: User, typed: string, from: Origin): Promise<RequestEmailChangeResult>;
    resend(user: User, flow: FlowId, from: Origin): Promise<ResendCodeResult>;
    confirm(user: User, flow: FlowId, code: string, from: Origin): Promise<ConfirmEmailChangeResult>;
  };
  phone: {
    ask(user: User, typed: string, from: Origin): Promise<RequestPhoneChangeResult>;
    resend(user: User, flow: FlowId, from: Origin): Promise<PhoneResent>;
    confirm(user: User, flow: FlowId, code: string, from: Origin): Promise<ConfirmPhoneChangeResult>;
    remove(user: User, from: Origin): Promise<RemovePhoneResult>;
  };
  flows: Pick<PendingContactChanges, 'find' | 'readChangeCookie' | 'setChangeCookie' | 'clearChangeCookie'>;
  pageRoutes(router: Router): void;
  operations: ApiOperation[];
}

/** Changes of addresses and numbers: one set of rules behind pages and calls. */
export function createContactModule(settings: ContactSettings): ContactModule {
  const { cookies, pages, contactBox, queueFull, recentFactorsUrl, devices, ...common } = settings;
  const flows = createPendingContactChanges(common.kv, cookies, contactBox, common.now);
  const deps: ContactDeps = { ...common, flows };
  const email: ContactModule['email'] = {
    ask: (...args) => requestEmailChange(deps, ...args),
    resend: (...args) => resendEmailChangeCode(deps, ...args),
    confirm: (...args) => confirmEmail(deps, ...args),
  };
  const phone: ContactModule['phone'] = {
    ask: (...args) => requestPhoneChange(deps, ...args),
    resend: (...args) => resendPhoneCode(deps, ...args),
    confirm: (...args) => confirmPhone(deps, ...args),
    remove: (...args) => removeUserPhone(deps, ...args),
  };
  return {
    email,
    phone,
    flows,
    pageRoutes(router) {
      undoEmailChangeRoutes(pageRoutes(router, { ...deps, pages, cookies, queueFull, recentFactorsUrl, devices }));
    },
    operations: contactOperations({ ...deps, email, phone }),
  };
}
