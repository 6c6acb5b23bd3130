/** What the server tells a model about itself, once per connection. */

/** Kept short: every byte is in every prompt. Tool descriptions say the rest. */
export const INSTRUCTIONS = `Muster hands out work items. How to work:
1. claim_item with claims:[{selector:{...},start:true}], a new UUID as requestId and your actor{id,kind}. The answer holds the item, a fence and a workerId. Keep both and pass them in every later call, also after a reconnect.
2. Do the work. Before half of ttlSeconds has passed, and again and again, call claim_item with refreshes:[{itemId,fence}].
3. advance_item with trigger "complete" (or "start" to enter review), your fence and workerId, a short summary, and claimNext:{selector:{...},start:true} to hold the next item in the same call.
If you cannot finish: trigger "fail" with a reason, or release the claim. On claim_lost stop at once: somebody else has the item.
Repeat a call that got no answer with the same requestId: it takes effect once. Errors say what to do next. With nothing to do, claim with waitSeconds up to 50.`;
