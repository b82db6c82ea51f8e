import { createElement } from 'react';
import { Greeting } from '../../views/account/greeting.tsx';
import type { HomeCardSource } from './home-card-source.ts';

const newForMs = 60 * 60_000;

/**
 * Above the settings in the first hour of an account that a provider's sign-in has created: its first page can be this
 * one, where the sign-up by a form ends at the plan.
 */
export const greetingCard: HomeCardSource = async ({ user, session }, { now }) => {
  const isNew = now() - user.createdAt < newForMs;
  if (!isNew || !session.amr.includes('fed')) return undefined;
  return (ctx) => createElement(Greeting, { ctx, givenName: user.givenName });
};
