/**
 * Schemas by item type, for tests that need another life than the default one.
 *
 *   reviewed    has a review phase
 *   manual      its parent cascades are off: a person closes it
 *   permanent   never closes by itself
 *   holds       an expiry leaves it in work
 *   fragile     dead after two bad ends
 *   stubborn    reviewed, and dead after two bad ends
 */
import { DEFAULT_POLICY, type ItemPolicy } from "../../services/core/state.ts";
import type { PolicySource } from "../../services/engine/deps.ts";

const FRAGILE_ATTEMPTS = 2;

const POLICIES: Readonly<Record<string, ItemPolicy>> = {
  reviewed: { ...DEFAULT_POLICY, hasReviewPhase: true },
  manual: { ...DEFAULT_POLICY, lifecycle: "manual" },
  permanent: { ...DEFAULT_POLICY, lifecycle: "permanent" },
  holds: { ...DEFAULT_POLICY, onExpiry: "hold" },
  fragile: { ...DEFAULT_POLICY, maxAttempts: FRAGILE_ATTEMPTS },
  stubborn: { ...DEFAULT_POLICY, hasReviewPhase: true, maxAttempts: FRAGILE_ATTEMPTS },
};

export const testPolicies: PolicySource = ({ type }) =>
  (type === null ? undefined : POLICIES[type]) ?? DEFAULT_POLICY;
