/**
 * What the contract offers to those who speak with Muster. Inside the services,
 * import from the files themselves.
 */
export {
  ERRORS,
  EXIT,
  MusterError,
  ensureError,
  errorBody,
  errorText,
  fault,
  isErrorCode,
  isMusterError,
  type ErrorBody,
  type ErrorCode,
  type ErrorEntry,
  type ErrorKind,
  type FaultOptions,
} from "./errors.ts";
export type { Annotations, Capability, Operation, Toolset } from "./operation.ts";
export {
  OPERATIONS,
  operationByName,
  operationsOf,
  type InputOf,
  type OperationName,
  type OutputOf,
  type RequestOf,
} from "./registry.ts";
export { schemasOf, toJsonSchema, type JsonSchema } from "./json-schema.ts";
export { toolEntry, toolListing, type ToolEntry } from "./tool-listing.ts";
export { TOOL_SURFACE_CHANGELOG, TOOL_SURFACE_VERSION, type SurfaceChange } from "./tool-surface.ts";
export { parseInput } from "./parse.ts";
export {
  isGranted,
  type ClaimEntry,
  type ClaimGranted,
  type ClaimRefused,
  type ClaimResult,
} from "./claiming.ts";
export { isFullId, type Actor } from "./fields.ts";
export type { Selector } from "./filters.ts";
