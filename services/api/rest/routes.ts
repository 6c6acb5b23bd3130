/**
 * The table of REST routes, below `/api/v1`. Its order is that of the documentation; of two
 * rows that a path could mean, the one with fewer parameters is served (`router.ts`).
 */
import { CLAIM_ROUTES } from "./claim-routes.ts";
import { CONFIG_ROUTES } from "./config-routes.ts";
import { DEPENDENCY_ROUTES } from "./dependency-routes.ts";
import { ITEM_LIST_ROUTES } from "./item-list-routes.ts";
import { ITEM_ROUTES } from "./item-routes.ts";
import { LEASE_ROUTES } from "./lease-routes.ts";
import { MENDING_ROUTES } from "./mending-routes.ts";
import { MOVE_ROUTES } from "./move-routes.ts";
import { NOTE_ROUTES } from "./note-routes.ts";
import { PLAN_ROUTES } from "./plan-routes.ts";
import { PROJECT_CONFIG_ROUTES } from "./project-config-routes.ts";
import { REPORT_ROUTES } from "./report-routes.ts";
import type { Route } from "./route.ts";
import { TOKEN_ROUTES } from "./token-routes.ts";
import { SEARCH_ROUTES } from "./search-routes.ts";
import { WEBHOOK_ROUTES } from "./webhook-routes.ts";

export const API_BASE = "/api/v1";

export const ROUTES: readonly Route[] = Object.freeze([
  ...ITEM_LIST_ROUTES,
  ...ITEM_ROUTES,
  ...MOVE_ROUTES,
  ...NOTE_ROUTES,
  ...DEPENDENCY_ROUTES,
  ...SEARCH_ROUTES,
  ...CLAIM_ROUTES,
  ...LEASE_ROUTES,
  ...PROJECT_CONFIG_ROUTES,
  ...PLAN_ROUTES,
  ...CONFIG_ROUTES,
  ...MENDING_ROUTES,
  ...TOKEN_ROUTES,
  ...WEBHOOK_ROUTES,
  ...REPORT_ROUTES,
]);
