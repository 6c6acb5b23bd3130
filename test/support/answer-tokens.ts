/** What an answer costs a model: a quarter of the bytes that its client is sent. */
import { callTool, type ResultForm } from "../../services/api/mcp/call-tool.ts";
import { operationByName } from "../../services/contract/registry.ts";
import { type TestEngine, testCaller } from "./engine.ts";

const SILENT = { info: () => {}, warn: () => {}, error: () => {}, debug: () => {} };

/** Calls a tool the way MCP does, and weighs the whole result. A refusal fails the test that asked. */
export async function answerTokens(
  engine: TestEngine,
  name: string,
  input: object,
  form: ResultForm = "structured",
): Promise<number> {
  const operation = operationByName.get(name);
  if (operation === undefined) throw new Error(`no operation ${name}`);
  const log = SILENT as unknown as Parameters<typeof callTool>[2]["log"];
  const result = await callTool(operation, input, {
    engine: engine.engine,
    log,
    caller: testCaller(),
    form,
  });
  if (result.isError === true) throw new Error(`${name} was refused: ${JSON.stringify(result.content)}`);
  return Buffer.byteLength(JSON.stringify(result)) / 4;
}
