import type { Router } from 'express';
import type { User } from '../account/index.ts';
import type { Operation } from '../http/index.ts';
import type { Origin } from '../messages/index.ts';
import type { ContactDeps, ContactSettings } from './deps.ts';
import { askForEmail, confirmEmail, type EmailAsked, type EmailConfirmed, resendEmailCode } from './email-change.ts';
import { type ContactFlows, createContactFlows } from './flows.ts';
import { contactOperations } from './operations.ts';
import {
  askForPhone,
  confirmPhone,
  type PhoneAsked,
  type PhoneConfirmed,
  type PhoneRemoved,
  type PhoneResent,
  removeMemberPhone,
  resendPhoneCode,
} from './phone-change.ts';
import type { Resent } from './prove.ts';
import { undoRoutes } from './undo-page.ts';

export interface ContactRoom {
  /** As each rule says; `flow` is the id of the change that waits for its code. */
  email: {
    ask(user: User, typed: string, from: Origin): Promise<EmailAsked>;
    resend(user: User, flow: string, from: Origin): Promise<Resent>;
    confirm(user: User, flow: string, code: string, from: Origin): Promise<EmailConfirmed>;
  };
  phone: {
    ask(user: User, typed: string, from: Origin): Promise<PhoneAsked>;
    resend(user: User, flow: string, from: Origin): Promise<PhoneResent>;
    confirm(user: User, flow: string, code: string, from: Origin): Promise<PhoneConfirmed>;
    remove(user: User, from: Origin): Promise<PhoneRemoved>;
  };
  flows: Pick<ContactFlows, 'find' | 'idOf' | 'giveTo' | 'takeFrom'>;
  pageRoutes(router: Router): void;
  operations: Operation[];
}

/** Changes of addresses and numbers: one set of rules behind pages and calls. */
export function openContact(settings: ContactSettings): ContactRoom {
  const { cookies, pages, contactBox, queueFull, wayToLateWaysIn, devices, ...common } = settings;
  const flows = createContactFlows(common.kv, cookies, contactBox, common.now);
  const deps: ContactDeps = { ...common, flows };
  const email: ContactRoom['email'] = {
    ask: (...given) => askForEmail(deps, ...given),
    resend: (...given) => resendEmailCode(deps, ...given),
    confirm: (...given) => confirmEmail(deps, ...given),
  };
  const phone: ContactRoom['phone'] = {
    ask: (...given) => askForPhone(deps, ...given),
    resend: (...given) => resendPhoneCode(deps, ...given),
    confirm: (...given) => confirmPhone(deps, ...given),
    remove: (...given) => removeMemberPhone(deps, ...given),
  };
  return {
    email,
    phone,
    flows,
    pageRoutes: (router) => undoRoutes(router, { ...deps, pages, queueFull, wayToLateWaysIn, devices }),
    operations: contactOperations({ ...deps, email, phone }),
  };
}
