import java.io.BufferedReader;
import java.io.FileInputStream;
import java.io.InputStreamReader;
import java.nio.charset.StandardCharsets;
import java.util.TreeSet;
import java.util.logging.Level;
import java.util.logging.Logger;
import org.verapdf.gf.foundry.VeraGreenfieldFoundryProvider;
import org.verapdf.pdfa.Foundries;
import org.verapdf.pdfa.flavours.PDFAFlavour;
import org.verapdf.pdfa.results.TestAssertion;

/**
 * veraPDF's library as a program: for each line of standard input, the path of a PDF, a line for each rule of PDF/A-2b
 * that the file breaks, and an empty line. pdfa_validators.py starts it.
 */
public class VeraPdf {
  public static void main(String[] arguments) throws Exception {
    Logger.getLogger("").setLevel(Level.OFF);
    VeraGreenfieldFoundryProvider.initialise();
    var paths = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
    for (String path = paths.readLine(); path != null; path = paths.readLine()) {
      for (String complaint : complaints(path)) {
        System.out.println(complaint);
      }
      System.out.println();
      System.out.flush();
    }
  }

  private static TreeSet<String> complaints(String path) {
    var found = new TreeSet<String>();
    try (var file = new FileInputStream(path);
        var parser = Foundries.defaultInstance().createParser(file, PDFAFlavour.PDFA_2_B);
        var validator = Foundries.defaultInstance().createValidator(PDFAFlavour.PDFA_2_B, false)) {
      var result = validator.validate(parser);
      for (TestAssertion assertion : result.getTestAssertions()) {
        if (assertion.getStatus() != TestAssertion.Status.PASSED) {
          var rule = assertion.getRuleId();
          found.add(rule.getClause() + "-" + rule.getTestNumber() + " " + assertion.getMessage());
        }
      }
      if (!result.isCompliant() && found.isEmpty()) {
        found.add("not compliant");
      }
    } catch (Exception error) {
      found.add(error.toString().replaceAll("\\s+", " "));
    }
    return found;
  }
}
