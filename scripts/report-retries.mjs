/** A reporter of the test runner. It names each test that failed, and passed when it ran once more. */
// oxlint-disable-next-line import/no-default-export -- the test runner takes the default export of a reporter
export default class RetryReporter {
  onTestCaseResult(test) {
    if (test.diagnostic()?.flaky !== true) return;
    console.log(`passed when it ran once more: ${test.module.relativeModuleId}: ${test.fullName}`);
  }
}
