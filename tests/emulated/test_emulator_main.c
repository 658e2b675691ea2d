/* The program of the tests in test_emulator.cc. */
int test_emulator(void);

int main(void)
{
    return test_emulator();
}
